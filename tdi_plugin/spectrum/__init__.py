"""Task spectra: at which frequencies the labels of a data set live.

The functions need torch alone; the streaming estimators sit on torchmetrics, which loads when one is first
named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tdi_plugin.spectrum.functional import (
    cross_spectrum,
    fisher_log_power,
    power_spectrum,
    task_spectrum,
)
from tdi_plugin.spectrum.log_power import log_power
from tdi_plugin.spectrum.value import TaskSpectrum

if TYPE_CHECKING:
    from tdi_plugin.spectrum.estimators import CrossSpectrum as CrossSpectrum
    from tdi_plugin.spectrum.estimators import FisherLogPower as FisherLogPower
    from tdi_plugin.spectrum.estimators import PowerSpectrum as PowerSpectrum

_ESTIMATORS = ("CrossSpectrum", "FisherLogPower", "PowerSpectrum")

__all__ = [
    "CrossSpectrum",
    "FisherLogPower",
    "PowerSpectrum",
    "TaskSpectrum",
    "cross_spectrum",
    "fisher_log_power",
    "log_power",
    "power_spectrum",
    "task_spectrum",
]


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tdi_plugin.spectrum import estimators

    return getattr(estimators, name)
