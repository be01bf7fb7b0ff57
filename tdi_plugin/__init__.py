"""Task-Dependent Initialization for S4/S4D: measure where the labels live, put the first layer's poles there.

    >>> import tdi_plugin as tdi
    >>> spectrum = tdi.task_spectrum(x, y)          # doctest: +SKIP
    >>> print(tdi.tdi_(model, spectrum))            # doctest: +SKIP

Names load on first use: importing the package imports neither Lightning nor Hydra nor torchmetrics.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdi_plugin.config import TDIConfig as TDIConfig
    from tdi_plugin.errors import DataError as DataError
    from tdi_plugin.errors import HostError as HostError
    from tdi_plugin.errors import OptionError as OptionError
    from tdi_plugin.errors import TDIError as TDIError
    from tdi_plugin.hosts import find_hosts as find_hosts
    from tdi_plugin.init import tdi_ as tdi_
    from tdi_plugin.lightning import TaskDependentInit as TaskDependentInit
    from tdi_plugin.refine import refine_ as refine_
    from tdi_plugin.report import InitReport as InitReport
    from tdi_plugin.search_path import config_dir as config_dir
    from tdi_plugin.spectrum import CrossSpectrum as CrossSpectrum
    from tdi_plugin.spectrum import FisherLogPower as FisherLogPower
    from tdi_plugin.spectrum import PowerSpectrum as PowerSpectrum
    from tdi_plugin.spectrum import TaskSpectrum as TaskSpectrum
    from tdi_plugin.spectrum import cross_spectrum as cross_spectrum
    from tdi_plugin.spectrum import fisher_log_power as fisher_log_power
    from tdi_plugin.spectrum import power_spectrum as power_spectrum
    from tdi_plugin.spectrum import task_spectrum as task_spectrum

__version__ = "0.1.0"

_HOME = {
    "TDIConfig": "config",
    "TDIError": "errors",
    "DataError": "errors",
    "OptionError": "errors",
    "HostError": "errors",
    "find_hosts": "hosts",
    "tdi_": "init",
    "refine_": "refine",
    "InitReport": "report",
    "TaskDependentInit": "lightning",
    "config_dir": "search_path",
    "CrossSpectrum": "spectrum",
    "FisherLogPower": "spectrum",
    "PowerSpectrum": "spectrum",
    "TaskSpectrum": "spectrum",
    "cross_spectrum": "spectrum",
    "fisher_log_power": "spectrum",
    "power_spectrum": "spectrum",
    "task_spectrum": "spectrum",
}
__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
