"""Log-power of series: the feature in which energy at a frequency counts and its phase does not."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.spectrum.batch import Batch, make_batch
from tdi_plugin.spectrum.periodogram import log_, periodogram
from tdi_plugin.spectrum.smoothing import Smoothing

POWER_FLOOR = 1e-6
SINGLE_IS_SAFE_ABOVE = 1e-25
"""Σ_k |U_k|² under which floored bins come near single precision's smallest normal number."""


def log_power(
    x: Any, lengths: Any = None, smoothing: str | None = None, power_floor: float = POWER_FLOOR
) -> Tensor:
    """z(k) = log(|U_k|² + power_floor · mean_k |U_k|²) of every series.

    Args:
        x: (B, L) or (B, L, D) series.
        lengths: (B,) valid samples where the series are unequal.
        smoothing: as in ``task_spectrum``.
        power_floor: part of the series' own mean power that is added before the logarithm.

    Returns:
        (B, K) or (B, K, D), K = L // 2 + 1; minus infinity for a series that is zero everywhere.
    """
    batch, smooth = make_batch(x, lengths), Smoothing.of(smoothing)
    z, total = log_power_of(batch, smooth, power_floor)
    if underflows(batch.series, total):
        z, _ = log_power_of(batch.double(), smooth, power_floor)
    return z[:, 0] if z.shape[1] == 1 else z.transpose(1, 2)


def log_power_of(batch: Batch, smoothing: Smoothing | None, power_floor: float) -> tuple[Tensor, Tensor]:
    """(B, D, K) z of a batch, and (B, D, 1) Σ_k |U_k|²; z is -inf for a series that is zero everywhere."""
    power = periodogram(batch.series, smoothing, batch.lengths)
    total = power.sum(dim=-1, keepdim=True)
    return log_(power.add_(total, alpha=power_floor / power.shape[-1])), total


def underflows(series: Tensor, total: Tensor) -> bool:
    """Whether single precision has lost series that are small but not zero; total is (B, D, 1) Σ_k |U_k|²."""
    if series.dtype != torch.float32:
        return False
    faint = (total < SINGLE_IS_SAFE_ABOVE)[..., 0]
    return bool(series[faint].any())
