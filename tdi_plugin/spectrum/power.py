"""The mean periodogram: what the inputs hold, whatever their labels. A control."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.spectrum.batch import Batch
from tdi_plugin.spectrum.log_power import SINGLE_IS_SAFE_ABOVE
from tdi_plugin.spectrum.periodogram import periodogram, without_rounding
from tdi_plugin.spectrum.smoothing import Smoothing
from tdi_plugin.spectrum.sums import NotFinite, Sums, rows_of, tally


@dataclass(frozen=True)
class Power:
    """S(k) = mean over series of |U_k|² / L, per channel: two-sided, so bins are not doubled."""

    smoothing: Smoothing | None = None
    name: str = "power"

    def labels(self, y: Any, rows: int) -> Tensor | None:
        return None

    def sums(self, batch: Batch, y: Tensor | None) -> Sums:
        """power (D, K)."""
        power = periodogram(batch.series, self.smoothing, batch.lengths) / batch.samples
        total = power.sum(dim=0).double()
        everything = float(total.sum())
        if not isfinite(everything):
            raise NotFinite
        if everything < SINGLE_IS_SAFE_ABOVE and batch.series.dtype == torch.float32:
            return self.sums(batch.double(), y)
        return {"power": total, "tally": tally(batch)}

    def spectrum(self, sums: Sums) -> Tensor:
        """(D, K) float64."""
        return without_rounding(sums["power"] / rows_of(sums), 1e-12)
