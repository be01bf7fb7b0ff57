"""The task spectrum of arrays in memory or on disk: one door, and its rooms by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import check_shape, to_tensor
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.spectrum.fisher import WITHIN_FLOOR
from tdi_plugin.spectrum.labels import check_rows, is_real_target
from tdi_plugin.spectrum.log_power import POWER_FLOOR
from tdi_plugin.spectrum.value import TaskSpectrum

BATCH_BYTES = 2**24


def task_spectrum(
    x: Any,
    y: Any = None,
    statistic: str = "auto",
    lengths: Any = None,
    smoothing: str | None = None,
    sample_rate: float | None = None,
    permutations: int = 0,
    seed: int = 0,
    *,
    shrinkage: float = 0.0,
    power_floor: float = POWER_FLOOR,
    within_floor: float = WITHIN_FLOOR,
) -> TaskSpectrum:
    """At which frequencies the labels ``y`` of the series ``x`` live.

    Args:
        x: (B, L) or (B, L, D) tensor or array, memory-mapped arrays included: they are read in parts. NaN at
            the end of a series marks it as shorter than L.
        y: (B,) integers of any values for classes; (B,) or (B, d) floats for real targets (cross and auto
            only); unused by power.
        statistic: "fisher" (energy whatever its phase), "cross" (phase-locked waves), "combined" (mean of
            their densities), "power" (labels unused), or "auto", which chooses by leave-one-out ridge error.
        lengths: (B,) valid samples where the series are unequal. All series then have their mean removed over
            the valid part, zeros beyond it, and their power divided by the valid length.
        smoothing: None, "welch[:samples]", "multitaper[:NW]" or "moving[:bins]".
        sample_rate: samples per second, kept in the result.
        permutations: label shuffles for p_value, p_values, significant and band; of a random sample of series
            where they are more than about 2,000.
        seed: of shuffles and samples.
        shrinkage: series' worth of pooled variance that each class variance is shrunk by (fisher).
        power_floor: part of a series' mean power that is added before the logarithm (fisher).
        within_floor: added to the within-class variance (fisher).

    Returns:
        The spectrum with what it rests on: ``statistic``, ``scores`` and ``reason`` of the choice, p-values.

    Raises:
        DataError: series or labels that cannot be measured.
        OptionError: an unknown statistic or smoothing.
    """
    x = x if hasattr(x, "shape") else to_tensor(x, "x")
    check_shape(tuple(x.shape))
    rows = ArrayBatches(x, class_numbers(y, len(x), statistic), lengths)
    return spectrum_of_batches(
        rows,
        statistic,
        smoothing=smoothing,
        sample_rate=sample_rate,
        permutations=permutations,
        seed=seed,
        shrinkage=shrinkage,
        power_floor=power_floor,
        within_floor=within_floor,
    )


def fisher_log_power(x: Any, y: Any, **options: Any) -> TaskSpectrum:
    """``task_spectrum(x, y, "fisher", ...)``: between-class over within-class variance of log-power."""
    return task_spectrum(x, y, "fisher", **options)


def cross_spectrum(x: Any, y: Any, **options: Any) -> TaskSpectrum:
    """``task_spectrum(x, y, "cross", ...)``: |F[Cov(u, Y)]|², classes one-hot, or real targets."""
    return task_spectrum(x, y, "cross", **options)


def power_spectrum(x: Any, **options: Any) -> TaskSpectrum:
    """``task_spectrum(x, None, "power", ...)``: the mean periodogram, labels unused."""
    return task_spectrum(x, None, "power", **options)


def class_numbers(y: Any, rows: int, statistic: str) -> Tensor | None:
    """Labels of any integer values as 0..C-1; everything else as it came."""
    if y is None:
        if statistic != "power":
            raise DataError(
                f"y is None, and statistic={statistic!r} needs labels; only 'power' does without."
            )
        return None
    labels = to_tensor(y, "y")
    check_rows(labels, rows)
    if labels.is_floating_point() or labels.is_complex() or labels.ndim > 2:
        real = statistic in ("auto", "cross") and is_real_target(labels)
        return labels[:, None] if real and labels.ndim == 1 else labels
    return torch.unique(labels, return_inverse=True)[1]


@dataclass(frozen=True)
class ArrayBatches:
    """Batches (x, y, lengths) of arrays, as large as BATCH_BYTES of float32."""

    x: Any
    y: Any = None
    lengths: Any = None

    def __len__(self) -> int:
        return -(-len(self.x) // self._step())

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for start in range(0, len(self.x), step := self._step()):
            rows = slice(start, start + step)
            yield self.x[rows], self._part(self.y, rows), self._part(self.lengths, rows)

    def _step(self) -> int:
        return min(max(BATCH_BYTES // (4 * prod(self.x.shape[1:])), 1), 1024)

    @staticmethod
    def _part(values: Any, rows: slice) -> Any:
        return None if values is None else values[rows]
