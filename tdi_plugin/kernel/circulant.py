"""The circulant approximation |H|^2 / L of the induced kernel's eigenvalues, and how far it is off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.linalg
import torch
from torch import Tensor

from tdi_plugin.kernel._checks import response
from tdi_plugin.kernel.toeplitz import toeplitz_operator


def circulant_spectrum(h: Any) -> Tensor:
    """|H(omega_j)|^2 / L at omega_j = 2 pi j / L, in the order j = 0..L-1: (L,), the mean over channels.

    They are the eigenvalues of C_h^T C_h / L for the circulant matrix C_h of the same response, i.e. of the
    kernel of series that wrap round. Their sum is ||h||^2.
    """
    rows = response(h)
    return torch.fft.fft(rows).abs().square().mean(0) / rows.shape[-1]


def circulant_distance(h: Any, lengths: Sequence[int] | None = None) -> Tensor:
    """Mean sorted eigenvalue error, sum_j |eta_j - |H_j|^2 / L| / ||h||^2, with both sides sorted.

    It has no unit, so it doesn't shrink merely because every eta has a factor 1/L.

    Args:
        h: impulse response (L,) or (..., L).
        lengths: h is cut to each of these; its own length by default.

    Returns:
        (n,), one value a length.
    """
    rows = response(h)
    out = []
    for length in [rows.shape[-1]] if lengths is None else lengths:
        cut = response(rows[:, :length])
        eta = torch.from_numpy(scipy.linalg.eigvalsh(toeplitz_operator(cut).gram())) / cut.shape[-1]
        approx = circulant_spectrum(cut)
        out.append((eta - approx.sort().values).abs().sum() / approx.sum())
    return torch.stack(out)


def circulant_bounds(h: Any) -> tuple[float, float]:
    """Bounds (low, high) of ``circulant_distance``, true at every L; once h has died out both fall as 1/L.

    low = sum_l l h_l^2 / (L ||h||^2) is what the traces differ by. high = 2 ||h||_1 sum_l l |h_l| / (L
    ||h||^2): C_h - T_h holds each h_l in l entries of one diagonal, so its nuclear norm is at most sum_l l
    |h_l|, and sorted eigenvalues move by no more, in sum, than the nuclear norm of a symmetric change (Mirsky
    1960).
    """
    rows = response(h)
    lag = torch.arange(rows.shape[-1], dtype=torch.float64)
    scale = rows.shape[-1] * rows.square().sum()
    high = 2 * (rows.abs().sum(-1) * (lag * rows.abs()).sum(-1)).sum() / scale
    return float((lag * rows.square()).sum() / scale), float(high)
