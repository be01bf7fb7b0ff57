"""The streaming estimators by name."""

from __future__ import annotations

from typing import Any

from tdi_plugin.errors import OptionError
from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import WITHIN_FLOOR, Fisher
from tdi_plugin.spectrum.log_power import POWER_FLOOR
from tdi_plugin.spectrum.metric import SpectrumMetric
from tdi_plugin.spectrum.power import Power
from tdi_plugin.spectrum.smoothing import Smoothing


class FisherLogPower(SpectrumMetric):
    """Fisher log-power of classes, streaming.

    Args:
        num_classes: number of classes C; labels are 0..C-1. None lets it grow with the labels that come.
        smoothing: as in ``task_spectrum``.
        sample_rate: samples per second, kept in the result.
        power_floor: part of a series' mean power that is added before the logarithm.
        within_floor: added to the within-class variance.
        shrinkage: series' worth of pooled variance that each class variance is shrunk by.
    """

    def __init__(
        self,
        num_classes: int | None = None,
        *,
        smoothing: str | None = None,
        sample_rate: float | None = None,
        power_floor: float = POWER_FLOOR,
        within_floor: float = WITHIN_FLOOR,
        shrinkage: float = 0.0,
        **kwargs: Any,
    ) -> None:
        fisher = Fisher(num_classes, Smoothing.of(smoothing), power_floor, within_floor, shrinkage)
        super().__init__(fisher, {"count": 2, "total": 3, "square": 3}, sample_rate, **kwargs)


class CrossSpectrum(SpectrumMetric):
    """Cross-spectrum with classes (one-hot) or real targets, streaming.

    Args:
        num_classes: number of classes; labels are 0..C-1.
        num_targets: number d of real target columns. With neither, the first batch decides by its type.
        smoothing: as in ``task_spectrum``.
        sample_rate: samples per second, kept in the result.
    """

    def __init__(
        self,
        num_classes: int | None = None,
        num_targets: int | None = None,
        *,
        smoothing: str | None = None,
        sample_rate: float | None = None,
        **kwargs: Any,
    ) -> None:
        if num_classes is not None and num_targets is not None:
            raise OptionError(
                f"num_classes={num_classes} and num_targets={num_targets}: targets are classes or real "
                "numbers; give one of the two."
            )
        cross = Cross(num_classes, num_targets, Smoothing.of(smoothing))
        super().__init__(cross, {"moment": 3, "first": 2, "target": 1}, sample_rate, **kwargs)


class PowerSpectrum(SpectrumMetric):
    """Mean periodogram, labels unused, streaming."""

    def __init__(
        self, *, smoothing: str | None = None, sample_rate: float | None = None, **kwargs: Any
    ) -> None:
        super().__init__(Power(Smoothing.of(smoothing)), {"power": 2}, sample_rate, **kwargs)
