"""One pass over batches: the spectrum of data that never lie in memory together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.log_power import Fisher, Undefined
from tdi_plugin.spectrum.measure import Statistic, batch_sums, to_spectrum
from tdi_plugin.spectrum.power import Power
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import Sums, add
from tdi_plugin.spectrum.value import TaskSpectrum

STATISTICS = ("auto", "combined", "cross", "fisher", "power")


def spectrum_of_batches(
    batches: Iterable[Any],
    statistic: str = "auto",
    num_classes: int | None = None,
    smoothing: str | None = None,
    sample_rate: float | None = None,
    permutations: int = 0,
    seed: int = 0,
    **constants: float,
) -> TaskSpectrum:
    """The task spectrum of an iterable of ``(x, y)`` or ``(x, y, lengths)``, each seen once.

    Raises:
        DataError: no batch, or data that cannot be measured.
        OptionError: an unknown statistic or smoothing.
    """
    if statistic not in STATISTICS:
        raise OptionError(f"Unknown statistic {statistic!r}: {choices(str(statistic), STATISTICS)}")
    smooth = Smoothing.of(smoothing)
    fisher, cross = Fisher(num_classes, smooth, **constants), Cross(num_classes, smoothing=smooth)
    wanted: dict[str, list[Statistic]] = {
        "fisher": [fisher, cross],
        "cross": [cross],
        "power": [Power(smooth)],
    }
    statistics = wanted.get(statistic, [fisher, cross])
    sums: list[Sums] | None = None
    for batch in batches:
        x, y, *rest = batch
        new = batch_sums(statistics, x, y, rest[0] if rest else None)
        sums = new if sums is None else [add(a, b) for a, b in zip(sums, new, strict=True)]
    if sums is None:
        raise DataError("No batch came: the loader is empty (drop_last with few series?).")
    if len(statistics) == 1:
        return to_spectrum(statistics[0], sums[0], sample_rate)
    of_cross = to_spectrum(cross, sums[1], sample_rate)
    try:
        of_fisher = to_spectrum(fisher, sums[0], sample_rate)
    except Undefined as error:
        return of_cross.replaced(reason=f"cross instead of {statistic}: {error}")
    return of_fisher if statistic == "fisher" else combine(of_fisher, of_cross)


def combine(fisher: TaskSpectrum, cross: TaskSpectrum) -> TaskSpectrum:
    """The mean of two densities."""

    def density(s: TaskSpectrum) -> Any:
        channels = s.power[None] if s.channels is None else s.channels.clone()
        channels[:, 0] = 0
        return channels / s.density_mass

    channels = (density(fisher) + density(cross)) / 2
    return fisher.replaced(
        power=channels.mean(dim=0), statistic="combined", channels=channels if channels.shape[0] > 1 else None
    )
