"""The numbers of a study's tables: paired gains by ratio and data set, accuracies, speed, failures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import mean, median, stdev
from typing import Any

from tdi_plugin.sweep.metrics import epochs_to
from tdi_plugin.sweep.published import BY_DATASET, BY_RATIO
from tdi_plugin.sweep.rows import Row, pairs
from tdi_plugin.sweep.statistics import conditions_won, paired_summary

PAIRED = ("final", "early5", "early10", "best")
RESOLUTION = 0.01
"""Points; curves hold accuracies to a thousandth of one."""
Pair = tuple[Row, Row]


def model_table(rows: Sequence[Row], base: str, low: float, high: float) -> dict[str, Any]:
    """Everything that is said about one model of a study.

    Args:
        rows: its runs.
        base: the baseline's arm.
        low: ratios up to this are the low regime.
        high: ratios from this on are the high regime.
    """
    kind = rows[0].kind
    arms = [arm for arm in dict.fromkeys(row.arm for row in rows) if arm != base]
    return {
        "kind": kind,
        "base": base,
        "runs": len(rows),
        "failures": {arm: failures([r for r in rows if r.arm == arm]) for arm in [base, *arms]},
        "arms": {arm: arm_table(pairs(rows, base, arm), kind, low, high) for arm in arms},
    }


def arm_table(matched: Sequence[Pair], kind: str, low: float, high: float) -> dict[str, Any]:
    """One arm against the baseline."""
    ratios = sorted({b.ratio for b, _ in matched})
    low_pairs = [p for p in matched if p[0].ratio <= low]
    high_pairs = [p for p in matched if p[0].ratio >= high]
    won, conditions = conditions_won(
        [b.metrics["early10"] for b, _ in matched], [o.metrics["early10"] for _, o in matched],
        [b.condition for b, _ in matched],
    )  # fmt: skip
    return {
        "overall": gains(matched),
        "low": gains(low_pairs),
        "high": gains(high_pairs),
        "by_ratio": [
            {
                "ratio": ratio,
                **gains([p for p in matched if p[0].ratio == ratio]),
                "published": BY_RATIO.get(ratio) if kind == "one-layer" else None,
            }
            for ratio in ratios
        ],
        "by_dataset": dataset_rows(matched, kind, low, high),
        "early10_conditions": {"won": won, "of": conditions},
        "speed": speed(matched),
    }


def gains(matched: Sequence[Pair]) -> dict[str, Any]:
    """Paired gain in points for each metric, with interval, wins and p-value; empty where nothing matches."""
    found: dict[str, Any] = {}
    for metric in PAIRED:
        usable = [p for p in matched if not any(math.isnan(r.metrics[metric]) for r in p)]
        if usable:
            base, other = ([100 * p[i].metrics[metric] for p in usable] for i in (0, 1))
            found[metric] = paired_summary(
                base, other, [b.dataset for b, _ in usable], resolution=RESOLUTION
            ).as_dict()
    return found


def dataset_rows(matched: Sequence[Pair], kind: str, low: float, high: float) -> list[dict[str, Any]]:
    """Mean and standard deviation of the final accuracy by data set and regime, in points."""
    regimes: dict[str, Callable[[float], bool]] = {
        f"low (≤ {100 * low:g} %)": lambda r: r <= low,
        f"high (≥ {100 * high:g} %)": lambda r: r >= high,
        "all ratios": lambda r: True,
    }
    found = []
    for dataset in dict.fromkeys(b.dataset for b, _ in matched):
        for i, (regime, inside) in enumerate(regimes.items()):
            mine = [p for p in matched if p[0].dataset == dataset and inside(p[0].ratio)]
            if not mine:
                continue
            base, other = ([100 * p[j].metrics["final"] for p in mine] for j in (0, 1))
            published = BY_DATASET.get(kind, {}).get(dataset) if i < 2 else None
            found.append({
                "dataset": dataset, "regime": regime, "n": len(mine),
                "n_train": sorted({p[0].n_train for p in mine}),
                "base": mean(base), "base_sd": spread(base), "other": mean(other), "other_sd": spread(other),
                "gain": gains(mine)["final"], "published": published and published[2 * i : 2 * i + 2],
            })  # fmt: skip
    return found


def speed(matched: Sequence[Pair]) -> dict[str, Any]:
    """Epochs until the baseline's own final accuracy is reached; one that never does counts them all."""
    base, other, never = [], [], 0
    for b, o in matched:
        goal, length = b.curves["test_accuracy"][-1] or 0.0, len(b.curves["test_accuracy"])
        reached = epochs_to(o.curves["test_accuracy"], goal)
        never += math.isnan(reached)
        base.append(epochs_to(b.curves["test_accuracy"], goal))
        other.append(length if math.isnan(reached) else reached)
    return {
        "base_epochs": mean(base), "other_epochs": mean(other), "ratio": mean(other) / mean(base),
        "median_ratio": median(o / b for o, b in zip(other, base, strict=True)),
        "never": never, "of": len(base),
    }  # fmt: skip


def failures(rows: Sequence[Row]) -> dict[str, int]:
    """Runs that became non-finite, never left chance, or kept their own poles; all stay in every mean."""
    return {
        "runs": len(rows),
        "nonfinite": int(sum(row.metrics["nonfinite"] for row in rows)),
        "no_learning": int(sum(row.metrics["no_learning"] for row in rows)),
        "abstained": sum(row.abstains for row in rows),
    }


def spread(values: Sequence[float]) -> float:
    """Standard deviation over runs, NaN for one."""
    return stdev(values) if len(values) > 1 else math.nan
