"""A uniform random sample of the series of a stream, in bounded memory."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.spectrum.batch import Batch, unequal

MOST_SERIES = 2048
MOST_BYTES = 2**25
EQUAL = -1


class Sample:
    """Keeps every series while they are few, later those with the largest of random keys.

    At most MOST_SERIES series and MOST_BYTES bytes are held, however many pass by.
    """

    def __init__(self, seed: int | tuple[int, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.keys = torch.empty(0, dtype=torch.float64)
        self.seen = 0
        self.series: Tensor | None = None
        self.labels: Tensor | None = None
        self.lengths: Tensor | None = None

    @property
    def complete(self) -> bool:
        """Every series that passed by is held."""
        return self.seen == len(self.keys)

    def add(self, batch: Batch, labels: Tensor) -> None:
        """Series and labels (B,) or (B, d) of one batch."""
        rows = batch.series.shape[0]
        self.seen += rows
        self.merge(torch.from_numpy(self.random.random(rows)), batch, labels)

    def merge(self, keys: Tensor, batch: Batch, labels: Tensor) -> None:
        """Offer series with keys that are drawn already."""
        one = batch.series[0]
        capacity = min(MOST_SERIES, max(MOST_BYTES // (one.numel() * one.element_size()), 8))
        free = max(capacity - len(self.keys), 0)
        arriving = torch.arange(len(keys))
        if free:
            self._append(keys[:free], batch.rows(slice(0, free)), labels[:free])
            arriving = arriving[free:]
        if len(arriving) == 0:
            return
        everyone = torch.cat([self.keys, keys[arriving]])
        best = everyone.topk(len(self.keys)).indices
        coming = best[best >= len(self.keys)] - len(self.keys) + free
        leaving = torch.ones(len(self.keys), dtype=torch.bool)
        leaving[best[best < len(self.keys)]] = False
        self._replace(leaving.nonzero()[:, 0], coming, keys, batch, labels)

    def with_others(self, others: list[Sample]) -> Sample:
        """This sample joined by those of other processes: still uniform, as every series has its key."""
        for other in others:
            if other.series is not None and other.labels is not None:
                self.seen += other.seen
                self.merge(other.keys, Batch(other.series, other.lengths), other.labels)
        return self

    def batch(self, most: int = MOST_SERIES) -> tuple[Batch, Tensor]:
        """At most ``most`` of the series held, and their labels."""
        assert self.series is not None
        assert self.labels is not None
        assert self.lengths is not None
        held = self.keys.topk(min(most, len(self.keys))).indices.sort().values
        series, lengths, labels = self.series[held], self.lengths[held], self.labels[held]
        equal = lengths == EQUAL
        if bool(equal.all()):
            return Batch(series, None), labels
        lengths[equal] = series.shape[-1]
        if bool(equal.any()):
            series[equal] = unequal(series[equal], lengths[equal]).series
        return Batch(series, lengths), labels

    def _append(self, keys: Tensor, batch: Batch, labels: Tensor) -> None:
        self.keys = torch.cat([self.keys, keys])
        self.series = joined(self.series, batch.series)
        self.labels = joined(self.labels, labels)
        self.lengths = joined(self.lengths, lengths_of(batch))

    def _replace(self, places: Tensor, coming: Tensor, keys: Tensor, batch: Batch, labels: Tensor) -> None:
        assert self.series is not None
        assert self.labels is not None
        assert self.lengths is not None
        self.keys[places] = keys[coming]
        self.series[places] = batch.series[coming].cpu()
        self.labels[places] = labels[coming].cpu()
        self.lengths[places] = lengths_of(batch)[coming].cpu()


def joined(held: Tensor | None, new: Tensor) -> Tensor:
    return new.cpu().clone() if held is None else torch.cat([held, new.cpu()])


def lengths_of(batch: Batch) -> Tensor:
    """(B,) valid lengths, EQUAL for series that came without."""
    if batch.lengths is not None:
        return batch.lengths
    return torch.full((batch.series.shape[0],), EQUAL, device=batch.series.device)
