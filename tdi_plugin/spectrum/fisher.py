"""The Fisher log-power spectrum: between-class over within-class variance of log |U_k|², from sums."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.spectrum.batch import Batch
from tdi_plugin.spectrum.labels import check_classes, check_num_classes, to_classes
from tdi_plugin.spectrum.log_power import POWER_FLOOR, SINGLE_IS_SAFE_ABOVE, log_power_of, underflows
from tdi_plugin.spectrum.periodogram import blocks
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import NotFinite, Sums, tally

WITHIN_FLOOR = 1e-3
ROUNDING = 1e-12
"""Class means of log-power that differ by less than its square root do so by rounding."""


class Undefined(DataError):
    """No class has two series, so there is no variance within classes to compare with."""


@dataclass(frozen=True)
class Fisher:
    """S(k) = Σ_j π_j (μ_j − μ̄)² / (Σ_j π_j σ_j² + within_floor) of z, per channel."""

    num_classes: int | None = None
    smoothing: Smoothing | None = None
    power_floor: float = POWER_FLOOR
    within_floor: float = WITHIN_FLOOR
    shrinkage: float = 0.0
    name: str = "fisher"

    def __post_init__(self) -> None:
        for option in ("power_floor", "within_floor", "shrinkage"):
            value = getattr(self, option)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise OptionError(f"{option}={value!r}: expected a number, 0 or more.")
        check_num_classes(self.num_classes)

    def labels(self, y: Any, rows: int) -> Tensor:
        """(B,) int64."""
        return to_classes(y, rows, self.num_classes)

    def sums(self, batch: Batch, y: Tensor) -> Sums:
        """count (C, D), total and square (C, D, K) of z in each class, without constant series.

        Within a batch the sums are of z less a reference, so that single precision loses nothing when squares
        are summed; in float64 they are put back, and have the same meaning whatever the batch.
        """
        classes = self.num_classes or int(y.max()) + 1
        center = total = square = torch.empty(0)
        used: Tensor | None = None
        for rows in blocks(batch.series):
            z, signal = log_power_of(batch.rows(rows), self.smoothing, self.power_floor)
            lowest, highest = (float(v) for v in torch.aminmax(signal))
            if not isfinite(highest):
                raise NotFinite
            if lowest < SINGLE_IS_SAFE_ABOVE:
                if underflows(batch.series[rows], signal):
                    return self.sums(batch.double(), y)
                used = torch.ones_like(batch.series[..., :1]) if used is None else used
                used[rows] = (signal > 0).to(used.dtype)
                z.masked_fill_(signal <= 0, 0.0)
            if rows.start == 0:
                center = z[0].clone()
                total = z.new_zeros(classes, *center.shape)
                square = torch.zeros_like(total)
            z.sub_(center)
            if used is not None:
                z.mul_(used[rows])
            here = y[rows]
            total.index_add_(0, here, z)
            square.index_add_(0, here, z.square_())
        count, left_out = self._count(y, used, classes, channels=center.shape[0])
        center, total = center.double().sub_(log(batch.samples)), total.double()
        back = count[..., None] * center
        return {
            "count": count,
            "total": total + back,
            "square": back.add_(total, alpha=2).mul_(center).add_(square),
            "tally": tally(batch, left_out, labelled=True),
        }

    @staticmethod
    def _count(y: Tensor, used: Tensor | None, classes: int, channels: int) -> tuple[Tensor, float]:
        """(C, D) series of each class, and how many are left out, given which are used (B, D, 1)."""
        if used is None:
            count = y.bincount(minlength=classes).double()[:, None]
            return count if channels == 1 else count.repeat(1, channels), 0.0
        count = used.new_zeros(classes, channels, dtype=torch.float64)
        return count.index_add_(0, y, used[..., 0].double()), used.numel() - float(used.sum())

    def spectrum(self, sums: Sums) -> Tensor:
        """(D, K) float64.

        Raises:
            DataError: fewer than two classes.
            Undefined: no class with two series.
        """
        count = sums["count"]
        check_classes(count.amax(dim=1))
        if float(count.max()) < 2:
            raise Undefined(
                f"None of the {count.shape[0]} classes has two series: the Fisher statistic is undefined. "
                "Use statistic='cross', or give more series."
            )
        count = count[..., None]
        prior = count / count.sum(dim=0).clamp(min=1)
        safe = count.clamp(min=1)
        mean = sums["total"] / safe
        variance = (sums["square"] / safe - mean.square()).clamp_(min=0)
        between = (prior * (mean - (prior * mean).sum(dim=0)).square()).sum(dim=0)
        within = (prior * self._shrunk(variance, count)).sum(dim=0)
        found = torch.where(between < ROUNDING, 0.0, between / (within + self.within_floor))
        if not bool(torch.isfinite(found).all()):
            raise DataError(
                f"At some frequencies no class varies and within_floor={self.within_floor}: the statistic is "
                "infinite there. Give within_floor a positive value."
            )
        return found

    def _shrunk(self, variance: Tensor, count: Tensor) -> Tensor:
        """(C, D, K) class variances, as if ``shrinkage`` more series of each had the pooled one."""
        if not self.shrinkage:
            return variance
        freedom = (count - 1).clamp(min=0).sum(dim=0)
        pooled = (count * variance).sum(dim=0) / freedom.clamp(min=1)
        return (count * variance + self.shrinkage * pooled) / (count + self.shrinkage)
