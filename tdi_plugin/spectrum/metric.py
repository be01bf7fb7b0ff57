"""A statistic as a torchmetrics.Metric, which keeps, moves, saves and reduces its sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torchmetrics import Metric

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.measure import Statistic, batch_sums, to_spectrum
from tdi_plugin.spectrum.sums import Sums, add, grow, length_of, rows_of
from tdi_plugin.spectrum.value import TaskSpectrum


class SpectrumMetric(Metric):
    """Sums of a statistic as float64 metric states, of size zero until the first batch tells their shapes."""

    full_state_update = True
    tally: Tensor
    is_differentiable = False

    def __init__(
        self, statistic: Statistic, axes: Mapping[str, int], sample_rate: float | None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.statistic = statistic
        self.sample_rate = sample_rate
        for name, count in axes.items():
            self.add_state(name, torch.zeros((0,) * count, dtype=torch.float64), "sum", persistent=True)
        self.add_state("tally", torch.zeros(5, dtype=torch.float64), "sum", persistent=True)

    def update(self, x: Any, y: Any = None, lengths: Any = None) -> None:
        """Add a batch: x (B, L) or (B, L, D), y (B,) or (B, d), lengths (B,) where series are unequal.

        Raises:
            DataError: a batch that cannot be measured, or one of another shape than those before it.
        """
        (sums,), _, _ = batch_sums([self.statistic], x, y, lengths)
        self._add(sums)

    def compute(self) -> TaskSpectrum:
        """The spectrum of every batch so far, over all processes where torch.distributed is initialised.

        Raises:
            DataError: no batch, or series that leave the statistic undefined.
        """
        return to_spectrum(self.statistic, self._sums(), self.sample_rate)

    def merge(self, other: SpectrumMetric) -> SpectrumMetric:
        """Add the sums of another estimator of the same statistic and options; returns itself.

        Raises:
            DataError: another statistic or other options.
        """
        if getattr(other, "statistic", None) != self.statistic:
            theirs = getattr(other, "statistic", other)
            raise DataError(f"Cannot merge {theirs} into {self.statistic}: statistic and options must agree.")
        self._add(other._sums())
        self._computed = None
        self._update_count += other._update_count
        return self

    def merge_state(self, incoming_state: Any) -> None:
        """``merge`` under the name that torchmetrics gives it; takes a state dictionary too."""
        if isinstance(incoming_state, SpectrumMetric):
            self.merge(incoming_state)
            return
        self._add(dict(incoming_state))
        self._computed = None
        self._update_count = max(self._update_count, 1)

    def _sums(self) -> Sums:
        return {name: getattr(self, name) for name in self._defaults}

    def _add(self, sums: Sums) -> None:
        held = self._sums()
        for name, value in add(dict(held), sums).items():
            if value is not held[name]:
                setattr(self, name, value)

    def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
        """Agree on shapes first: a process without batches, or without some class, holds smaller sums."""
        group = kwargs.get("process_group")
        sums = self._sums()
        here = length_of(sums), {name: tuple(value.shape) for name, value in sums.items()}
        everywhere: list[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(everywhere, here, group=group)
        if len(lengths := {length for length, _ in everywhere if length}) > 1:
            raise DataError(f"Processes hold series of lengths {sorted(lengths)}; pad them to one length.")
        for name, value in sums.items():
            shapes = [shapes[name] for _, shapes in everywhere]
            setattr(self, name, grow(value, tuple(max(sizes) for sizes in zip(*shapes, strict=True))))
        super()._sync_dist(*args, **kwargs)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, *args)
        self._computed = None
        self._update_count = max(self._update_count, int(rows_of(self._sums()) > 0))

    def _wrap_compute(self, compute: Callable) -> Callable:
        """torchmetrics rebuilds dataclasses that compute() returns, which a frozen one refuses: box it."""
        boxed = super()._wrap_compute(_Boxing(compute))
        return lambda *args, **kwargs: boxed(*args, **kwargs).value


class _Box:
    def __init__(self, value: TaskSpectrum) -> None:
        self.value = value


class _Boxing:
    def __init__(self, compute: Callable) -> None:
        self.compute = compute
        self.__name__ = "compute"

    def __call__(self, *args: Any, **kwargs: Any) -> _Box:
        return _Box(self.compute(*args, **kwargs))
