"""The Fisher log-power spectrum: between-class over within-class variance of log |U_k|², from sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch, make_batch
from tdi_plugin.spectrum.labels import check_classes, to_classes
from tdi_plugin.spectrum.periodogram import periodogram
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import Sums

POWER_FLOOR = 1e-6
WITHIN_FLOOR = 1e-3


class Undefined(DataError):
    """No class has two series, so there is no variance within classes to compare with."""


def log_power(
    x: Any, lengths: Any = None, smoothing: str | None = None, floor: float = POWER_FLOOR
) -> Tensor:
    """z(k) = log(|U_k|² + floor · mean_k |U_k|²) of every series.

    Args:
        x: (B, L) or (B, L, D) series.
        lengths: (B,) valid samples where the series are unequal.
        smoothing: as in ``task_spectrum``.
        floor: part of the series' own mean power that is added before the logarithm.

    Returns:
        (B, K) or (B, K, D), K = L // 2 + 1; minus infinity for a series that is zero everywhere.
    """
    z = log_power_of(make_batch(x, lengths), Smoothing.of(smoothing), floor)
    return z[:, 0] if z.shape[1] == 1 else z.transpose(1, 2)


def log_power_of(batch: Batch, smoothing: Smoothing | None, floor: float) -> Tensor:
    """(B, D, K) z of a batch."""
    power = periodogram(batch.series, smoothing, batch.lengths)
    return power.add_(power.mean(dim=-1, keepdim=True), alpha=floor).log_()


@dataclass(frozen=True)
class Fisher:
    """S(k) = Σ_j π_j (μ_j − μ̄)² / (Σ_j π_j σ_j² + within_floor), per channel."""

    num_classes: int | None = None
    smoothing: Smoothing | None = None
    power_floor: float = POWER_FLOOR
    within_floor: float = WITHIN_FLOOR
    shrinkage: float = 0.0
    name: str = "fisher"

    def labels(self, y: Any, rows: int) -> Tensor:
        return to_classes(y, rows, self.num_classes)

    def sums(self, batch: Batch, y: Tensor) -> Sums:
        """count (C, D), total and square (C, D, K) of z in each class, without the series that are zero."""
        z = log_power_of(batch, self.smoothing, self.power_floor)
        used = z[..., 0] != -torch.inf
        z = torch.where(used[..., None], z, 0)
        center = z.mean(dim=0)
        z = (z - center).mul_(used[..., None])
        member = torch.nn.functional.one_hot(y, self.num_classes or -1).to(z.dtype)
        count = member.T.double() @ used.double()
        total = torch.einsum("bc,bdk->cdk", member, z).double()
        square = torch.einsum("bc,bdk->cdk", member, z.square_()).double()
        center = center.double()
        weighted = count[..., None] * center
        return {
            "count": count,
            "total": total + weighted,
            "square": square + center * (2 * total + weighted),
            "left_out": (~used).sum().double(),
        }

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
        prior = count / count.sum(dim=0)
        safe = count.clamp(min=1)
        mean = sums["total"] / safe
        variance = (sums["square"] / safe - mean.square()).clamp_(min=0)
        between = (prior * (mean - (prior * mean).sum(dim=0)).square()).sum(dim=0)
        within = (prior * self._shrunk(variance, count)).sum(dim=0)
        return between / (within + self.within_floor)

    def _shrunk(self, variance: Tensor, count: Tensor) -> Tensor:
        if not self.shrinkage:
            return variance
        freedom = (count - 1).clamp(min=0)
        pooled = (count * variance).sum(dim=0) / freedom.sum(dim=0).clamp(min=1)
        return (count * variance + self.shrinkage * pooled) / (count + self.shrinkage)
