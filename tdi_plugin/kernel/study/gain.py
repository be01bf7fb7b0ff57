"""Claim 4: what the mismatch score says beforehand about TDI's gain, and where TDI loses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from tdi_plugin.kernel.alignment import mode_weights
from tdi_plugin.kernel.learning_curve import predicted_learning_curve
from tdi_plugin.kernel.spectra import kernel_spectrum
from tdi_plugin.kernel.study.arms import arm, response, s4d_lin
from tdi_plugin.kernel.study.fit import figures
from tdi_plugin.kernel.study.tasks import LENGTH, band_target, in_band, measured_spectrum, task_spectrum_of

COUNTS = (16, 64, 256, 0)
"""Series from which the task spectrum is measured; 0: the population's own."""
SIZES = np.unique(np.geomspace(1, LENGTH, 40).round())


def log_error(h: Tensor, target: Tensor) -> float:
    """Mean log of the predicted error over 1..L series (white inputs, a ridge of 1 % of the trace)."""
    eta, v = kernel_spectrum(h)
    curve = predicted_learning_curve(eta, mode_weights(v, target), SIZES, 0.01 * float(eta.sum()))
    return float(curve.log().mean())


def gain(tasks: int, seed: int) -> dict[str, Any]:
    """Random bands (0.004..0.49, width 0.006..0.25): figures before and after TDI, and rank correlations."""
    rows: list[dict[str, Any]] = []
    for number in range(tasks):
        draw = np.random.default_rng([seed, number])
        low = draw.uniform(0.004, 0.42)
        high = min(low + 10 ** draw.uniform(-2.2, -0.6), 0.49)
        target, inside = band_target(low, high, seed + 1000 + number), in_band(low, high)
        base = s4d_lin(seed + number)
        start = log_error(response(base, LENGTH), target)
        for count in COUNTS:
            spectrum = measured_spectrum(target, count, seed + number) if count else task_spectrum_of(target)
            before = figures(base, target, inside, spectrum)
            for name in ("TDI", "TDI peaks"):
                placed = arm(name, spectrum, seed + number)
                after = figures(placed, target, inside, spectrum)
                rows.append(
                    {
                        "band": [low, high],
                        "series": count,
                        "arm": name,
                        "missed": before["coverage"] < 1,
                        "mismatch": before["mismatch"],
                        "area": [before["area"], after["area"]],
                        "alignment": [before["alignment"], after["alignment"]],
                        "log2_error_ratio": (start - log_error(response(placed, LENGTH), target))
                        / math.log(2),
                    }
                )
    return {
        "tasks": tasks,
        "rows": rows,
        "summary": [_summary(rows, c, a) for c in COUNTS for a in ("TDI", "TDI peaks")],
    }


def _summary(rows: list[dict[str, Any]], count: int, name: str) -> dict[str, Any]:
    chosen = [r for r in rows if r["series"] == count and r["arm"] == name]
    out: dict[str, Any] = {"series": count, "arm": name}
    for label, missed in (("missed", True), ("covered", False)):
        part = [r for r in chosen if r["missed"] is missed]
        out[label] = {
            "tasks": len(part),
            "area_up": sum(r["area"][1] > r["area"][0] for r in part),
            "alignment_up": sum(r["alignment"][1] > r["alignment"][0] for r in part),
            "error_down": sum(r["log2_error_ratio"] > 0 for r in part),
        }
    pairs = torch.tensor([[r["mismatch"], r["log2_error_ratio"]] for r in chosen])
    out["rank_correlation"] = float(spearmanr(pairs[:, 0], pairs[:, 1]).statistic)
    return out
