"""|U_k|² of a batch, plain or smoothed."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.spectrum.smoothing import Smoothing


def squared(spectrum: Tensor) -> Tensor:
    """(..., K) |U|² of complex (..., K)."""
    parts = torch.view_as_real(spectrum)
    return parts[..., 0].square().addcmul_(parts[..., 1], parts[..., 1])


def periodogram(series: Tensor, smoothing: Smoothing | None = None, lengths: Tensor | None = None) -> Tensor:
    """(B, D, K) |U_k|² of (B, D, L), K = L // 2 + 1."""
    if smoothing is None:
        return squared(torch.fft.rfft(series))
    return smoothing.power(series, lengths)
