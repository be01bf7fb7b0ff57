"""Which statistic suits a task: do the waves predict left-out labels, or their log-power, or both?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.spectrum.batch import Batch
from tdi_plugin.spectrum.fisher import Fisher
from tdi_plugin.spectrum.labels import has_repeats
from tdi_plugin.spectrum.permutation import centred_log_power, one_hot_rows, shuffled_orders

MOST_SERIES = 512
SHUFFLES = 99
LEVEL = 0.05
WAVES_AT_LEAST = 0.8
"""Waves are left aside where they explain less than this part of what log-power explains."""
LOG_POWER_AT_LEAST = 0.25
"""Log-power is left aside where it explains less than this part of what the waves explain."""
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


@dataclass(frozen=True)
class Choice:
    """What ``auto`` settled on."""

    statistic: str
    """fisher, cross or combined; power where neither kind of feature tells anything."""
    scores: dict[str, float]
    """linear and log_power: leave-one-out error over that of the class frequencies; *_p: its p-value."""
    reason: str
    abstains: bool = False
    """Whether neither told anything."""


def choose(batch: Batch, labels: Tensor, fisher: Fisher | None, seed: int = 0) -> Choice:
    """Compare phase-locked waves with log-power on a training subset, by closed-form leave-one-out ridge.

    Args:
        batch: at most MOST_SERIES series.
        labels: (B,) classes or (B, d) real targets.
        fisher: None where log-power cannot be used, as with real targets.
        seed: of the label shuffles that give the p-values.
    """
    if labels.ndim == 1 and not has_repeats(labels):
        return Choice(
            "cross", {}, "one series a class: nothing can be left out to judge by, and fisher is undefined"
        )
    targets = one_hot_rows(labels).double() if labels.ndim == 1 else labels.double()
    waves = batch.series.double()
    waves = waves - waves.mean(dim=-1, keepdim=True)
    scores = dict(zip(("linear", "linear_p"), left_out_error(waves, targets, seed), strict=True))
    if fisher is not None:
        z = centred_log_power(fisher, batch)[..., 1:].double()
        scores |= dict(zip(("log_power", "log_power_p"), left_out_error(z, targets, seed), strict=True))
    return decide(scores, len(targets))


def decide(scores: dict[str, float], n_series: int | None = None) -> Choice:
    """The rule, on its own; how many series it rests on is for the words."""
    linear, log_power = scores["linear"], scores.get("log_power", np.inf)
    by_wave = scores["linear_p"] < LEVEL
    by_power = scores.get("log_power_p", 1.0) < LEVEL
    text = f"leave-one-out error {linear:.2f} of chance by waves"
    if "log_power" in scores:
        text += f", {log_power:.2f} by log-power"
    if not by_wave and not by_power:
        among = "" if n_series is None else f" in {n_series} series"
        reason = (
            f"no label information found{among} ({text}): layers keep their own poles, and this is the "
            "power; name a statistic to place poles anyway"
        )
        return Choice("power", scores, reason, abstains=True)
    wave_gain, power_gain = max(0.0, 1 - linear), max(0.0, 1 - log_power)
    if not by_wave:
        return Choice("fisher", scores, f"energy tells the classes apart, whatever its phase ({text})")
    if by_power and wave_gain < WAVES_AT_LEAST * power_gain:
        return Choice("fisher", scores, f"log-power tells the classes apart better than waves do ({text})")
    if not by_power or power_gain < LOG_POWER_AT_LEAST * wave_gain:
        return Choice("cross", scores, f"phase-locked waves tell the labels apart ({text})")
    return Choice("combined", scores, f"both waves and log-power tell the classes apart ({text})")


def left_out_error(features: Tensor, targets: Tensor, seed: int) -> tuple[float, float]:
    """Squared leave-one-out error of ridge regression over that of the mean, and its permutation p-value.

    Features (B, ...), targets (B, d). With H the ridge's hat matrix the residual of series i when it is left
    out is (Y − H Y)_i / (1 − H_ii) (Allen's PRESS); the best of PENALTIES (in units of the mean eigenvalue)
    counts, for shuffled targets as for the true ones.
    """
    rows, columns = targets.shape
    flat = features.flatten(start_dim=1)
    flat = flat - flat.mean(dim=0)
    gram = flat @ flat.T
    values, vectors = torch.linalg.eigh(gram)
    values = values.clamp(min=0)
    if float(values.sum()) <= 0:
        return 1.0, 1.0
    orders = next(shuffled_orders(rows, SHUFFLES, seed, 1))
    everyone = (targets - targets.mean(dim=0))[orders].permute(1, 0, 2).reshape(rows, -1)
    rotated = vectors.T @ everyone
    errors = []
    for penalty in PENALTIES:
        kept = values / (values + penalty * values.mean())
        leverage = 1 / rows + vectors.square() @ kept
        residual = (everyone - vectors @ (kept[:, None] * rotated)) / (1 - leverage)[:, None]
        errors.append(residual.square().sum(dim=0).view(-1, columns).sum(dim=1))
    best = torch.stack(errors).amin(dim=0)
    chance = (everyone[:, :columns] * (rows / (rows - 1))).square().sum()
    p_value = (1 + int((best[1:] <= best[0]).sum())) / (SHUFFLES + 1)
    return float(best[0] / chance), p_value
