"""Series in memory, as every reader returns them, and the torch data set over them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from tdi_plugin.errors import DataError


@dataclass(frozen=True)
class Series:
    """n series on one grid.

    Attributes:
        x: (n, L, D) float32; zero beyond a series' own length.
        y: (n,) int64 class numbers, (n, d) float32 targets, or None.
        lengths: (n,) int64 valid lengths, or None where all are L.
        classes: the names of the classes, in order of their numbers.
        sample_rate: in Hz, or None.
    """

    x: Tensor
    y: Tensor | None
    lengths: Tensor | None = None
    classes: tuple[str, ...] = ()
    sample_rate: float | None = None

    def __len__(self) -> int:
        return len(self.x)

    def at(self, indices: NDArray[np.int64]) -> Series:
        """The series of those numbers, copied."""
        chosen = torch.from_numpy(indices)
        y, lengths = (None if part is None else part[chosen] for part in (self.y, self.lengths))
        return replace(self, x=self.x[chosen], y=y, lengths=lengths)

    def with_lengths(self) -> Series:
        """The same with ``lengths`` spelled out."""
        if self.lengths is not None:
            return self
        return replace(self, lengths=torch.full((len(self),), self.x.shape[1]))

    def every(self, stride: int) -> Series:
        """Every ``stride``-th sample, with no filter before it: what lies above the new 1/2 folds back."""
        if stride == 1:
            return self
        lengths = None if self.lengths is None else (self.lengths + stride - 1) // stride
        rate = None if self.sample_rate is None else self.sample_rate / stride
        return replace(self, x=self.x[:, ::stride].contiguous(), lengths=lengths, sample_rate=rate)

    def standardised(self) -> Series:
        """Each channel of each series to mean 0 and variance 1 over its valid part; constants become 0."""
        steps = torch.arange(self.x.shape[1])
        lengths = self.with_lengths().lengths
        assert lengths is not None
        valid = (steps < lengths[:, None])[..., None]
        mean = (self.x * valid).sum(1, keepdim=True) / lengths[:, None, None]
        centred = (self.x - mean) * valid
        scale = (centred.square().sum(1, keepdim=True) / lengths[:, None, None]).sqrt()
        # Rounding leaves a constant series at about 1e-7 of its level, which must not be blown up to 1.
        flat = scale <= 1e-6 * mean.abs()
        return replace(self, x=torch.where(flat, 0.0, centred / torch.where(flat, 1.0, scale)))

    def digest(self) -> str:
        """A SHA-256 of the values, labels and lengths."""
        digest = hashlib.sha256(repr(tuple(self.x.shape)).encode())
        for tensor in (self.x, self.y, self.lengths):
            if tensor is not None:
                digest.update(np.ascontiguousarray(tensor.numpy()).tobytes())
        return digest.hexdigest()


def digest_of(*parts: Series) -> str:
    """One SHA-256 for several sets of series."""
    return hashlib.sha256("".join(part.digest() for part in parts).encode()).hexdigest()


class SeriesDataset(Dataset[Any]):
    """Items (x (L, D), y) or, for series of unequal length, (x (L, D), y, length)."""

    def __init__(self, series: Series) -> None:
        if series.y is None:
            raise DataError("Series without labels came where labelled ones were expected; give labels.")
        self.series = series
        self.labels = series.y

    def __len__(self) -> int:
        return len(self.series)

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        item = (self.series.x[index], self.labels[index])
        return item if self.series.lengths is None else (*item, self.series.lengths[index])


def collate(batch: list[tuple[Any, ...]]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """A batch as s4 wants it: (x, y, {}) or, for items with a length, (x, y, {"lengths": (B,)}).

    Items of different length (tokens) are padded with zeros to the longest of the batch.
    """
    x, y, *rest = zip(*batch, strict=True)
    extras = {"lengths": torch.stack([torch.as_tensor(n) for n in rest[0]])} if rest else {}
    same = all(len(item) == len(x[0]) for item in x)
    stacked = torch.stack(x) if same else torch.nn.utils.rnn.pad_sequence(list(x), batch_first=True)
    return stacked, torch.stack([torch.as_tensor(label) for label in y]), extras
