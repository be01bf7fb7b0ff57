"""Smoothed periodograms for few series: Welch segments, multitaper, moving average."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError, choices

DEFAULTS = {"welch": 0, "multitaper": 2.5, "moving": 3}


@dataclass(frozen=True)
class Smoothing:
    """A kind and its size.

    welch: samples in a segment, 0 for a quarter of the series; multitaper: time-bandwidth product NW, with
    2 NW - 1 tapers; moving: bins in the average, odd.
    """

    kind: str
    size: float

    @classmethod
    def of(cls, given: str | Smoothing | None) -> Smoothing | None:
        """From ``"welch"``, ``"welch:64"``, ``"multitaper:4"``, ``"moving:5"``; None stays None.

        Raises:
            OptionError: an unknown name, or a size that it cannot have.
        """
        if given is None or isinstance(given, Smoothing):
            return given
        if not isinstance(given, str):
            raise OptionError(f"smoothing={given!r}: expected a text such as 'welch' or 'moving:5', or None.")
        kind, _, size = given.partition(":")
        if kind not in DEFAULTS:
            raise OptionError(f"Unknown smoothing {given!r}: {choices(kind, DEFAULTS)}")
        try:
            value = float(size) if size else float(DEFAULTS[kind])
        except ValueError as error:
            raise OptionError(
                f"smoothing={given!r}: {size!r} is no number; write for instance '{kind}:4'."
            ) from error
        whole = value == int(value)
        allowed = {
            "welch": whole and (value == 0 or value >= 2),
            "multitaper": value >= 1,
            "moving": whole and value % 2 == 1,
        }
        if not allowed[kind]:
            raise OptionError(
                f"smoothing={given!r}: welch takes whole samples (2 or more), multitaper a "
                "time-bandwidth product of 1 or more, moving an odd number of bins."
            )
        return cls(kind, value)

    def power(self, series: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B, D, K) smoothed |U|² of (B, D, L), in the units of the plain one.

        Welch and multitaper take the mean off first, or their windows would spread DC over its
        neighbours; the moving average leaves DC out for the same reason. With ``lengths``, windows fit each
        series' valid part.
        """
        if self.kind == "moving":
            return self._moving(series)
        samples = series.shape[-1]
        if lengths is None:
            return self._windowed(series, samples)
        out = series.new_empty(*series.shape[:-1], samples // 2 + 1)
        for length in lengths.unique().tolist():
            rows = lengths == length
            out[rows] = self._windowed(series[rows][..., :length], samples)
        return out

    def _moving(self, series: Tensor) -> Tensor:
        plain = torch.fft.rfft(series).abs().square()
        size = int(self.size)
        tail = plain[..., 1:]
        ones = torch.ones(1, 1, size, dtype=tail.dtype, device=tail.device)
        flat = tail.reshape(-1, 1, tail.shape[-1])
        half = size // 2
        summed = torch.nn.functional.conv1d(flat, ones, padding=half)
        counted = torch.nn.functional.conv1d(torch.ones_like(flat[:1]), ones, padding=half)
        plain[..., 1:] = (summed / counted).reshape(tail.shape)
        return plain

    def _windowed(self, series: Tensor, grid: int) -> Tensor:
        length = series.shape[-1]
        series = series - series.mean(dim=-1, keepdim=True)
        if self.kind == "welch":
            size = min(int(self.size) or max(length // 4, 2), length)
            pieces = series.unfold(-1, size, max(size // 2, 1))
            window = torch.hann_window(size, periodic=True, dtype=series.dtype, device=series.device)[None]
            if size < 3:
                window = torch.ones_like(window)
        else:
            pieces = series[..., None, :]
            window = self._tapers(length).to(series)
        power = torch.fft.rfft(pieces * window, n=grid).abs().square().mean(dim=-2)
        return power * (length / window.square().sum(dim=-1).mean())

    def _tapers(self, length: int) -> Tensor:
        from scipy.signal.windows import dpss

        product = min(self.size, (length - 1) / 2) if length > 3 else 0.0
        if product < 1:
            return torch.full((1, length), length**-0.5, dtype=torch.float64)
        tapers = dpss(length, product, Kmax=max(int(2 * product) - 1, 1))
        return torch.from_numpy(tapers.copy())
