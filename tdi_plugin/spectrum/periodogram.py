"""|U_k|² and its logarithm, a block of series at a time: small enough to stay in the processor's cache."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.spectrum.smoothing import Smoothing

BLOCK_BYTES = 2**20
X86 = platform.machine().lower() in ("x86_64", "amd64")


def blocks(series: Tensor) -> Iterator[slice]:
    """Slices of (B, D, L) whose spectra fill about BLOCK_BYTES for each thread; all of it off the CPU."""
    rows, channels, samples = series.shape
    if series.device.type != "cpu":
        step = rows
    else:
        bytes_a_row = channels * (samples + 2) * series.element_size()
        step = max(BLOCK_BYTES * torch.get_num_threads() // bytes_a_row, 8)
    for start in range(0, rows, step):
        yield slice(start, start + step)


def periodogram(series: Tensor, smoothing: Smoothing | None = None, lengths: Tensor | None = None) -> Tensor:
    """(B, D, K) |U_k|² of (B, D, L), K = L // 2 + 1."""
    if smoothing is not None:
        return smoothing.power(series, lengths)
    spectrum = torch.fft.rfft(series)
    if on_numpy(spectrum, threads=1):
        size = np.abs(spectrum.numpy())
        return torch.from_numpy(np.multiply(size, size, out=size))
    parts = torch.view_as_real(spectrum)
    parts.mul_(parts)
    return parts[..., 0] + parts[..., 1]


def without_rounding(power: Tensor, part: float) -> Tensor:
    """Zero, but at DC, the channels of (D, K) in which all else together is no more than ``part`` of DC: what
    is left of constant series is the rounding of their transform."""
    constant = power[:, 1:].sum(dim=1) <= part * power[:, 0]
    power[constant, 1:] = 0.0
    return power


def log_(power: Tensor) -> Tensor:
    """Natural logarithm in place; zero gives minus infinity."""
    if on_numpy(power, threads=2):
        values = power.numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(values, out=values)
        return power
    return power.log_()


def on_numpy(values: Tensor, threads: int) -> bool:
    """Whether NumPy's loops beat torch's: they run on one thread, but in single precision on x86 up to three
    times as fast, and so win as long as torch has no more than ``threads``."""
    single = values.dtype in (torch.float32, torch.complex64)
    return X86 and single and values.device.type == "cpu" and torch.get_num_threads() <= threads
