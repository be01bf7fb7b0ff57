"""One pass over batches: the spectrum of data that never lie in memory together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import WITHIN_FLOOR, Fisher
from tdi_plugin.spectrum.log_power import POWER_FLOOR
from tdi_plugin.spectrum.measurement import Measurement
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.value import TaskSpectrum


def spectrum_of_batches(
    batches: Iterable[Any], statistic: str = "auto", num_classes: int | None = None, **options: Any
) -> TaskSpectrum:
    """The task spectrum of an iterable of ``(x, y)`` or ``(x, y, lengths)``, each seen once.

    Args:
        batches: x (B, L) or (B, L, D); y (B,) classes 0 and above, or real (B, d); lengths (B,) or None.
        statistic: auto, fisher, cross, combined or power.
        num_classes: number of classes; None lets it grow with the labels that come.
        options: of ``start``: smoothing, sample_rate, permutations, seed, distributed, ...

    Raises:
        DataError: no batch, or data that cannot be measured.
        OptionError: an unknown statistic or smoothing.
    """
    measurement = start(statistic, num_classes, **options)
    for batch in batches:
        measurement.add(*batch)
    return measurement.finish()


def start(
    statistic: str = "auto",
    num_classes: int | None = None,
    smoothing: str | None = None,
    sample_rate: float | None = None,
    permutations: int = 0,
    seed: int = 0,
    shrinkage: float = 0.0,
    power_floor: float = POWER_FLOOR,
    within_floor: float = WITHIN_FLOOR,
    distributed: bool = False,
) -> Measurement:
    """A measurement for batches that come one by one, by its ``add`` and in the end ``finish``.

    Args:
        statistic, num_classes: as in ``spectrum_of_batches``.
        smoothing, sample_rate, permutations, seed: as in ``task_spectrum``.
        shrinkage, power_floor, within_floor: as in ``FisherLogPower``.
        distributed: put the batches of all processes of torch.distributed together; each must finish.

    Raises:
        OptionError: an unknown statistic or smoothing.
    """
    smooth = Smoothing.of(smoothing)
    fisher = Fisher(num_classes, smooth, power_floor, within_floor, shrinkage)
    cross = Cross(num_classes, smoothing=smooth)
    return Measurement(statistic, fisher, cross, permutations, seed, sample_rate, distributed)
