"""Log-power of series: the feature in which energy at a frequency counts and its phase does not."""

from __future__ import annotations

from math import log
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
    """z(k) = log((|U_k|² + power_floor · mean_{k≥1} |U_k|²) / length) of every series.

    The floor leaves DC out, or a large offset would hide faint frequencies behind its own level.

    Args:
        x: (B, L) or (B, L, D) series.
        lengths: (B,) valid samples where the series are unequal.
        smoothing: as in ``task_spectrum``.
        power_floor: part of the series' own mean power that is added before the logarithm.

    Returns:
        (B, K) or (B, K, D), K = L // 2 + 1; minus infinity for a series that is constant.
    """
    batch, smooth = make_batch(x, lengths), Smoothing.of(smoothing)
    z, signal = log_power_of(batch, smooth, power_floor)
    if underflows(batch.series, signal):
        z, signal = log_power_of(batch.double(), smooth, power_floor)
    z = torch.where(signal > 0, z - log(batch.samples), -torch.inf)
    return z[:, 0] if z.shape[1] == 1 else z.transpose(1, 2)


def log_power_of(batch: Batch, smoothing: Smoothing | None, power_floor: float) -> tuple[Tensor, Tensor]:
    """(B, D, K) log of floored |U_k|², and (B, D, 1) Σ_{k≥1} |U_k|² above what rounding makes of a constant.

    Series where the second is not positive are constant, and their log-power means nothing.
    """
    power = periodogram(batch.series, smoothing, batch.lengths)
    total = power[..., 1:].sum(dim=-1, keepdim=True)
    bins = power.shape[-1] - 1
    signal = total.sub(power[..., :1], alpha=bins * torch.finfo(power.dtype).eps ** 2)
    return log_(power.add_(total, alpha=power_floor / bins)), signal


def underflows(series: Tensor, signal: Tensor) -> bool:
    """Whether single precision has lost series that are small but not zero; signal is (B, D, 1) Σ |U_k|²."""
    if series.dtype != torch.float32:
        return False
    faint = series[(signal < SINGLE_IS_SAFE_ABOVE)[..., 0]]
    return faint.numel() > 0 and 0 < float(faint.abs().max()) < SINGLE_IS_SAFE_ABOVE**0.5
