"""From the curves of a run to the numbers that are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Curve = Sequence[float | None]

ROUNDING = 1e-5
"""Curves hold five digits."""

METRICS = {
    "final": "final accuracy",
    "best": "accuracy at the best validation epoch",
    "early5": "mean accuracy of the first 5 epochs",
    "early10": "mean accuracy of the first 10 epochs",
    "final_loss": "final test loss",
    "early5_loss": "mean test loss of the first 5 epochs",
    "early10_loss": "mean test loss of the first 10 epochs",
}


def run_metrics(curves: Mapping[str, Curve], chance: float, threshold: float) -> dict[str, float]:
    """Numbers of one run.

    Args:
        curves: ``test_accuracy``, ``test_loss``, ``train_loss`` and perhaps ``val_accuracy``, one value an
            epoch; None stands for a value that was not finite.
        chance: Share of the most frequent class in the test set.
        threshold: Accuracy whose first epoch (from 1; NaN if never) is reported as ``epochs_to``.

    Returns:
        The metrics by name; NaN where a curve leaves one undefined. ``nonfinite`` and ``no_learning`` are
        0 or 1.
    """
    accuracy, loss = _floats(curves["test_accuracy"]), _floats(curves["test_loss"])
    validation = _floats(curves.get("val_accuracy") or [])
    best = max(range(len(validation)), key=lambda e: _low(validation[e])) if validation else None
    return {
        "final": accuracy[-1],
        "best": accuracy[best] if best is not None else math.nan,
        "early5": _mean(accuracy[:5]),
        "early10": _mean(accuracy[:10]),
        "final_loss": loss[-1],
        "early5_loss": _mean(loss[:5]),
        "early10_loss": _mean(loss[:10]),
        "epochs_to": epochs_to(accuracy, threshold),
        "nonfinite": float(not all(map(math.isfinite, [*_floats(curves["train_loss"]), *loss]))),
        "no_learning": float(max(map(_low, accuracy)) <= chance + ROUNDING),
    }


def epochs_to(accuracy: Curve, threshold: float) -> float:
    """First epoch, counted from 1, at which the accuracy reaches the threshold; NaN if it never does."""
    reached = [e for e, a in enumerate(accuracy, start=1) if a is not None and a >= threshold]
    return float(reached[0]) if reached else math.nan


def _floats(curve: Curve) -> list[float]:
    return [math.nan if v is None else float(v) for v in curve]


def _low(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
