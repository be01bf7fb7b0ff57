"""One pass over batches: the spectrum of data that never lie in memory together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import WITHIN_FLOOR, Fisher
from tdi_plugin.spectrum.log_power import POWER_FLOOR
from tdi_plugin.spectrum.measurement import Measurement, is_distributed
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import MixedLengths
from tdi_plugin.spectrum.value import TaskSpectrum


def spectrum_of_batches(
    batches: Iterable[Any],
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
) -> TaskSpectrum:
    """The task spectrum of an iterable of ``(x, y)`` or ``(x, y, lengths)``, each seen once.

    Args:
        batches: x (B, L) or (B, L, D); y (B,) classes 0 and above, or real (B, d); lengths (B,) or None.
        statistic: auto, fisher, cross, combined or power.
        num_classes: number of classes; None lets it grow with the labels that come.
        smoothing, sample_rate, permutations, seed: as in ``task_spectrum``.
        shrinkage, power_floor, within_floor: as in ``FisherLogPower``.
        distributed: put the batches of all processes of torch.distributed together; each must call this.

    Raises:
        DataError: no batch, or data that cannot be measured.
        OptionError: an unknown statistic or smoothing.
    """
    smooth = Smoothing.of(smoothing)

    def one_pass(padded: bool) -> TaskSpectrum:
        measurement = Measurement(
            statistic,
            Fisher(num_classes, smooth, power_floor, within_floor, shrinkage),
            Cross(num_classes, smoothing=smooth),
            permutations,
            seed,
            sample_rate,
            padded,
        )
        for batch in batches:
            measurement.add(*batch)
        if distributed and is_distributed():
            measurement.gather()
        return measurement.finish()

    try:
        return one_pass(padded=False)
    except MixedLengths:
        if distributed or iter(batches) is batches:
            raise
        return one_pass(padded=True)
