"""The task spectrum of arrays in memory or on disk: the one door, and its rooms by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tdi_plugin.spectrum.batch import to_tensor
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.spectrum.value import TaskSpectrum

BATCH = 256


def task_spectrum(
    x: Any,
    y: Any = None,
    statistic: str = "auto",
    lengths: Any = None,
    smoothing: str | None = None,
    sample_rate: float | None = None,
    permutations: int = 0,
    seed: int = 0,
    **constants: float,
) -> TaskSpectrum:
    """The frequencies at which the labels ``y`` of the series ``x`` live."""
    y = to_tensor(y if y is not None else torch.zeros(len(x), dtype=torch.long), "y")
    if y.ndim == 1 and not y.is_floating_point() and statistic != "power":
        y = torch.unique(y, return_inverse=True)[1]

    def batches() -> Iterator[Any]:
        for start in range(0, len(x), BATCH):
            rows = slice(start, start + BATCH)
            yield x[rows], y[rows], None if lengths is None else lengths[rows]

    return spectrum_of_batches(
        batches(),
        statistic,
        smoothing=smoothing,
        sample_rate=sample_rate,
        permutations=permutations,
        seed=seed,
        **constants,
    )


def fisher_log_power(x: Any, y: Any, **options: Any) -> TaskSpectrum:
    return task_spectrum(x, y, "fisher", **options)


def cross_spectrum(x: Any, y: Any, **options: Any) -> TaskSpectrum:
    return task_spectrum(x, y, "cross", **options)


def power_spectrum(x: Any, **options: Any) -> TaskSpectrum:
    return task_spectrum(x, None, "power", **options)
