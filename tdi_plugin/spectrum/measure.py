"""From batches to sums, and from sums to a TaskSpectrum: what functions and estimators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch, explain_not_finite, make_batch, padding_lengths, unequal
from tdi_plugin.spectrum.sums import Sums
from tdi_plugin.spectrum.value import TaskSpectrum


class Statistic(Protocol):
    """A spectrum that follows from sums over series."""

    @property
    def name(self) -> str: ...

    def labels(self, y: Any, rows: int) -> Any:
        """What ``sums`` takes as y, checked."""
        ...

    def sums(self, batch: Batch, y: Any) -> Sums:
        """Float64 sums over the series of one batch."""
        ...

    def spectrum(self, sums: Sums) -> Tensor:
        """(D, K) float64 statistic of each channel."""
        ...


def batch_sums(statistics: Sequence[Statistic], x: Any, y: Any, lengths: Any = None) -> list[Sums]:
    """The sums of one batch for each statistic; NaN at the end of series counts as ``lengths``.

    Raises:
        DataError: shapes, types or values that cannot be measured.
    """
    batch = make_batch(x, lengths)
    labels = [s.labels(y, batch.series.shape[0]) for s in statistics]
    found = [s.sums(batch, label) for s, label in zip(statistics, labels, strict=True)]
    if not finite(found) and lengths is None and (ends := padding_lengths(batch.series)) is not None:
        batch = unequal(batch.series, ends)
        found = [s.sums(batch, label) for s, label in zip(statistics, labels, strict=True)]
    if not finite(found):
        raise explain_not_finite(batch.series)
    for sums in found:
        note_batch(sums, batch)
    return found


def finite(found: Sequence[Sums]) -> bool:
    return all(bool(torch.isfinite(part.sum())) for sums in found for part in sums.values())


def note_batch(sums: Sums, batch: Batch) -> None:
    """Length, and series counted by how they were measured."""
    rows = torch.tensor(float(batch.series.shape[0]), dtype=torch.float64, device=batch.series.device)
    zero = torch.zeros_like(rows)
    sums["length"] = torch.tensor(batch.series.shape[-1], device=batch.series.device)
    sums["equal"], sums["unequal"] = (rows, zero) if batch.lengths is None else (zero, rows)


def to_spectrum(statistic: Statistic, sums: Sums, sample_rate: float | None = None) -> TaskSpectrum:
    """The value of a statistic: mean over channels, with the channels kept where there are several.

    Raises:
        DataError: no series, or a statistic that these series leave undefined.
    """
    if not int(sums["length"]):
        raise DataError("No series came: the loader is empty, or update() was never called.")
    channels = statistic.spectrum(sums)
    rows, left_out = float(sums["equal"] + sums["unequal"]), float(sums.get("left_out", torch.zeros(())))
    return TaskSpectrum(
        power=channels.mean(dim=0),
        length=int(sums["length"]),
        statistic=statistic.name,
        n_series=round(rows - left_out / channels.shape[0]),
        sample_rate=sample_rate,
        channels=channels.cpu() if channels.shape[0] > 1 else None,
    )
