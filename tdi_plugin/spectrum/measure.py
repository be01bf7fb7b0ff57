"""From batches to sums, and from sums to a TaskSpectrum: what functions and estimators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch, explain_not_finite, make_batch, padding_lengths, unequal
from tdi_plugin.spectrum.sums import LEFT_OUT, NotFinite, Sums, all_equal, length_of, rows_of
from tdi_plugin.spectrum.value import TaskSpectrum


class Statistic(Protocol):
    """A spectrum that follows from sums over series."""

    @property
    def name(self) -> str: ...

    def labels(self, y: Any, rows: int) -> Any:
        """What ``sums`` takes as y, checked."""
        ...

    def sums(self, batch: Batch, y: Any) -> Sums:
        """Float64 sums over the series of one batch.

        Raises:
            NotFinite: they are NaN or infinite.
        """
        ...

    def spectrum(self, sums: Sums) -> Tensor:
        """(D, K) float64 statistic of each channel."""
        ...


def batch_sums(
    statistics: Sequence[Statistic], x: Any, y: Any, lengths: Any = None
) -> tuple[list[Sums], Batch, list[Any]]:
    """The sums of one batch for each statistic, the batch, and its labels as each statistic takes them.

    NaN at the end of series counts as ``lengths``.

    Raises:
        DataError: shapes, types or values that cannot be measured.
    """
    batch = make_batch(x, lengths)
    labels = [on(batch.series.device, s.labels(y, batch.series.shape[0])) for s in statistics]
    try:
        found = [s.sums(batch, label) for s, label in zip(statistics, labels, strict=True)]
    except NotFinite:
        batch = repaired(batch)
        try:
            found = [s.sums(batch, label) for s, label in zip(statistics, labels, strict=True)]
        except NotFinite:
            raise explain_not_finite(batch.series) from None
    return found, batch, labels


def on(device: torch.device, labels: Tensor | None) -> Tensor | None:
    """The labels where the series are."""
    return labels if labels is None or labels.device == device else labels.to(device)


def repaired(batch: Batch) -> Batch:
    """The batch in a form whose sums are finite: NaN at the end cut off, or squares that overflow in float64.

    Raises:
        DataError: NaN or infinite values elsewhere.
    """
    if batch.lengths is None and bool(batch.series[..., -1].isnan().all(dim=1).any()):
        return unequal(batch.series, padding_lengths(batch.series))
    if batch.series.dtype == torch.float32 and bool(torch.isfinite(batch.series).all()):
        return batch.double()
    raise explain_not_finite(batch.series)


def to_spectrum(statistic: Statistic, sums: Sums, sample_rate: float | None = None) -> TaskSpectrum:
    """The value of a statistic: mean over channels, with the channels kept where there are several.

    Raises:
        DataError: no series, or a statistic that these series leave undefined.
    """
    if not length_of(sums):
        raise DataError("No series came: the loader is empty, or update() was never called.")
    channels = statistic.spectrum(sums)
    if not all_equal(sums):
        # Unequal series are centred and equal ones are not: between them DC has no meaning.
        channels[:, 0] = 0.0
    left_out = float(sums["tally"][LEFT_OUT])
    return TaskSpectrum(
        power=channels.mean(dim=0),
        length=length_of(sums),
        statistic=statistic.name,
        n_series=round(rows_of(sums) - left_out / channels.shape[0]),
        sample_rate=sample_rate,
        left_out=round(left_out),
        channels=channels.cpu() if channels.shape[0] > 1 else None,
    )
