"""The cross-spectrum of input and target, from sums over series alone: one FFT at the end."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch, to_tensor
from tdi_plugin.spectrum.labels import check_classes, is_real_target, to_classes, to_targets
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

    def labels(self, y: Any, rows: int) -> Tensor:
        """(B,) int64 for classes, (B, d) float64 for real targets."""
        if self.num_targets is not None:
            return to_targets(y, rows, self.num_targets)
        if self.num_classes is None and is_real_target(y := to_tensor(y, "y")):
            return to_targets(y, rows, None)
        return to_classes(y, rows, self.num_classes)

    def sums(self, batch: Batch, y: Tensor) -> Sums:
        """moment (d, D, L) Σ u Yᵀ, first (D, L) Σ u, target (d,) Σ Y; y (B,) classes or (B, d) real."""
        series, classes = batch.series, y.ndim == 1
        sums = self._of_classes(series, y) if classes else self._of_targets(series, y)
        if not isfinite(float(sums["moment"].sum())):
            raise NotFinite
        if batch.lengths is None:
            # As for unequal series, so that the two can be added: |U|² for each valid sample.
            sums["moment"] *= series.shape[-1] ** -0.5
            sums["first"] *= series.shape[-1] ** -0.5
        return {**sums, "tally": tally(batch, labelled=classes)}

    def _of_classes(self, series: Tensor, y: Tensor) -> Sums:
        classes = self.num_classes or int(y.max()) + 1
        target = y.bincount(minlength=classes).double()
        center = common_wave(series)
        if center is not None:
            series = series - center
        moment = series.new_zeros(classes, *series.shape[1:]).index_add_(0, y, series).double()
        if center is not None:
            moment += target[:, None, None] * center
        return {"moment": moment, "first": moment.sum(dim=0), "target": target}

    def _of_targets(self, series: Tensor, y: Tensor) -> Sums:
        """Sums with the batch's own mean taken off Y, so that single precision meets no large numbers."""
        wave = common_wave(series)
        if wave is not None:
            series = series - wave
        center = y.mean(dim=0)
        moment = torch.einsum("br,bdl->rdl", (y - center).to(series.dtype), series).double()
        first = series.sum(dim=0).double()
        if wave is not None:
            first += len(y) * wave.double()
        return {
            "moment": moment + center[:, None, None] * first,
            "first": first,
            "target": y.sum(dim=0),
        }

    def covariance(self, sums: Sums) -> Tensor:
        """(d, D, L) float64 C_uY."""
        rows = rows_of(sums)
        mean = sums["target"] / rows
        return (sums["moment"] - mean[:, None, None] * sums["first"]) / rows

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
