"""Inputs of the theory functions, brought to float64 or refused."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError


def real(value: Any, name: str) -> Tensor:
    """A detached float64 CPU tensor.

    Raises:
        DataError: complex, empty, or not finite.
    """
    tensor = torch.as_tensor(value).detach().cpu()
    if tensor.is_complex():
        raise DataError(f"{name} is complex; real values were expected. Take the real part or |.|**2 first.")
    if tensor.numel() == 0:
        raise DataError(f"{name} is empty, shape {tuple(tensor.shape)}; at least one value was expected.")
    tensor = tensor.to(torch.float64)
    bad = int((~torch.isfinite(tensor)).sum())
    if bad:
        raise DataError(
            f"{name} has {bad} NaN or infinite values among {tensor.numel()}; finite ones were expected. "
            "Check where it was computed."
        )
    return tensor


def response(h: Any) -> Tensor:
    """Impulse responses (L,) or (..., L) as rows (C, L), with L at least 2."""
    rows = real(h, "The impulse response")
    length = rows.shape[-1] if rows.ndim else 0
    if length < 2:
        raise DataError(
            f"The impulse response has length {length}; at least 2 samples were expected along its last axis."
        )
    return rows.reshape(-1, length)


def columns(cross: Any, length: int) -> Tensor:
    """A cross-covariance (L,) or (L, d) as columns (L, d), for a system of that length."""
    tensor = real(cross, "The cross-covariance")
    tensor = tensor.unsqueeze(-1) if tensor.ndim == 1 else tensor
    if tensor.ndim != 2 or tensor.shape[0] != length:
        raise DataError(
            f"The cross-covariance has shape {tuple(tensor.shape)}; ({length},) or ({length}, d) was "
            f"expected, for a system of length {length}. Compute both for series of one length."
        )
    return tensor


def series(x: Any, length: int, name: str = "The data") -> Tensor:
    """Series (B, L) of one input channel, for a system of that length."""
    tensor = real(x, name)
    if tensor.ndim != 2 or tensor.shape[1] != length:
        raise DataError(
            f"{name} has shape {tuple(tensor.shape)}; (B, {length}) was expected, for a system of length "
            f"{length}. Give one input channel at a time: the kernels of several channels add."
        )
    return tensor


def non_negative(value: Any, name: str) -> Tensor:
    """A flat, non-negative vector."""
    tensor = real(value, name)
    if tensor.ndim != 1 or bool((tensor < 0).any()):
        raise DataError(
            f"{name} has shape {tuple(tensor.shape)} and minimum {float(tensor.min()):.3g}; "
            "a flat vector of values >= 0 was expected."
        )
    return tensor


def number(value: float, name: str) -> float:
    """A finite number that is not negative."""
    if not 0.0 <= float(value) < float("inf"):
        raise DataError(f"{name}={value!r}; a finite number >= 0 was expected.")
    return float(value)
