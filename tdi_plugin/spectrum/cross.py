"""The cross-spectrum of input and target, from sums over series alone: one FFT at the end."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch, to_tensor
from tdi_plugin.spectrum.labels import (
    check_classes,
    check_num_classes,
    is_real_target,
    to_classes,
    to_targets,
)
from tdi_plugin.spectrum.periodogram import periodogram, without_rounding
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import LABELLED, NotFinite, Sums, all_equal, length_of, rows_of, tally

FAR = 8.0
"""Ratio of level to difference above which series are summed less one of them."""


@dataclass(frozen=True)
class Cross:
    """S(k) = (1/d) Σ_r |F[C_uY^(:,r)](k)|² with C_uY = (1/n) Σ (u − ū)(Y − Ȳ)ᵀ, per channel.

    Where lengths are unequal each u has zero mean, zeros after its end, and a factor 1/sqrt(valid length).
    Y is one-hot for classes, and d their number (those that occur, where ``num_classes`` is not given).
    """

    num_classes: int | None = None
    num_targets: int | None = None
    smoothing: Smoothing | None = None
    name: str = "cross"

    def __post_init__(self) -> None:
        check_num_classes(self.num_classes)

    def labels(self, y: Any, rows: int) -> Tensor:
        """(B,) int64 for classes, (B, d) float64 for real targets."""
        if self.num_targets is not None:
            return to_targets(y, rows, self.num_targets)
        if self.num_classes is None and is_real_target(y := to_tensor(y, "y")):
            return to_targets(y, rows, None)
        return to_classes(y, rows, self.num_classes)

    def sums(self, batch: Batch, y: Tensor) -> Sums:
        """moment (d, D, L) Σ u Yᵀ, target (d,) Σ Y and, for real targets only, first (D, L) Σ u.

        u has the factor 1/sqrt(L) in equal series too, so that the two kinds can be added.
        """
        series, classes = batch.series, y.ndim == 1
        scale = 1.0 if batch.lengths is not None else series.shape[-1] ** -0.5
        wave = common_wave(series)
        if wave is not None:
            series = series - wave
        sums = self._of_classes(series, y, scale) if classes else self._of_targets(series, y, scale)
        if not isfinite(float(sums["moment"].sum())):
            raise NotFinite
        if wave is not None:
            name, times = ("moment", sums["target"][:, None, None]) if classes else ("first", len(y))
            sums[name] = sums[name].double() + times * scale * wave.double()
        if not classes:
            sums["moment"] = sums["moment"].double() + y.mean(dim=0)[:, None, None] * sums["first"]
        return {**sums, "tally": tally(batch, labelled=classes)}

    def _of_classes(self, series: Tensor, y: Tensor, scale: float) -> Sums:
        classes = self.num_classes or int(y.max()) + 1
        moment = series.new_zeros(classes, *series.shape[1:])
        return {
            "moment": moment.index_add_(0, y, series, alpha=scale),
            "first": series.new_zeros(0, 0),
            "target": y.bincount(minlength=classes).double(),
        }

    def _of_targets(self, series: Tensor, y: Tensor, scale: float) -> Sums:
        """The moment with Y less its mean, so that single precision meets no large numbers."""
        centred = ((y - y.mean(dim=0)) * scale).to(series.dtype)
        return {
            "moment": torch.einsum("br,bdl->rdl", centred, series),
            "first": scale * series.sum(dim=0).double(),
            "target": y.sum(dim=0),
        }

    def covariance(self, sums: Sums) -> Tensor:
        """(d, D, L) float64 C_uY."""
        rows = rows_of(sums)
        first = sums["moment"].sum(dim=0) if bool(sums["tally"][LABELLED]) else sums["first"]
        mean = sums["target"] / rows
        return (sums["moment"] - mean[:, None, None] * first) / rows

    def spectrum(self, sums: Sums) -> Tensor:
        """(D, K) float64.

        Raises:
            DataError: one series, or one class.
        """
        if rows_of(sums) < 2:
            raise DataError("One series came; a label-informed spectrum needs two at least.")
        columns = sums["target"].numel()
        if bool(sums["tally"][LABELLED]):
            check_classes(sums["target"])
            columns = self.num_classes or int((sums["target"] > 0).sum())
        power = periodogram(self.covariance(sums), self.smoothing).sum(dim=0) / columns
        return without_rounding(power * length_of(sums) if all_equal(sums) else power, 1e-20)


def common_wave(series: Tensor) -> Tensor | None:
    """(D, L) one of the series, if they differ so little that float32 sums would lose what they differ by;
    None if it would not."""
    if series.dtype != torch.float32:
        return None
    first, second = series[0], series[-1]
    level = float(torch.linalg.vector_norm(first))
    return first if level > FAR * float(torch.linalg.vector_norm(first - second)) else None
