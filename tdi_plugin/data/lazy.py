"""A data set over integer samples that become floating point one item at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

_CHUNK = 512


class ScaledDataset(Dataset[Any]):
    """Items ((L, 1) float32, y) from rows of an integer array, in memory or memory-mapped.

    Args:
        values: (n, L) integers, or the path of a .npy file of that shape, which is then memory-mapped.
        rows: (m,) the rows that belong to this set.
        labels: (m,) class numbers.
        pick: (L',) positions to take, in that order; None takes all.
        shift: subtracted first.
        scale: then multiplied; ``shift`` and ``scale`` are in the unit of ``values``.
        per_series: each item to mean 0, variance 1 instead (a constant series becomes 0).
    """

    def __init__(
        self,
        values: NDArray[Any] | Path,
        rows: NDArray[np.int64],
        labels: NDArray[np.int64],
        *,
        pick: NDArray[np.int64] | slice | None = None,
        shift: float = 0.0,
        scale: float = 1.0,
        per_series: bool = False,
    ) -> None:
        self._values = values
        self._mapped: NDArray[Any] | None = None
        self.rows = rows
        self.labels = torch.from_numpy(labels)
        self._pick: Any = slice(None) if pick is None else pick
        self.shift, self.scale, self.per_series = shift, scale, per_series

    @property
    def values(self) -> NDArray[Any]:
        """(n, L) as stored; opened on first use, so that worker processes map the file themselves."""
        if not isinstance(self._values, Path):
            return self._values
        if self._mapped is None:
            self._mapped = np.load(self._values, mmap_mode="r")
        return self._mapped

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_mapped": None}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        sample = self.values[self.rows[index]][self._pick].astype(np.float32)
        if self.per_series:
            deviation = float(sample.std())
            sample = (sample - sample.mean()) / (deviation if deviation > 0 else 1.0)
        else:
            sample = (sample - np.float32(self.shift)) * np.float32(self.scale)
        return torch.from_numpy(sample)[:, None], self.labels[index]


def mean_and_deviation(values: NDArray[Any], rows: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and standard deviation of all samples of those rows, read in pieces, summed exactly."""
    count, total, squares = 0, 0, 0
    for start in range(0, len(rows), _CHUNK):
        block = values[rows[start : start + _CHUNK]].astype(np.int64)
        count += block.size
        total += int(block.sum())
        squares += int(np.square(block).sum())
    mean = total / count
    return mean, max(squares / count - mean**2, 0.0) ** 0.5
