from __future__ import annotations

import math

from tdi_plugin.sweep.loop import finite
from tdi_plugin.sweep.metrics import epochs_to, run_metrics


def test_numbers_of_a_run() -> None:
    accuracy = [0.5] * 5 + [0.7] * 5 + [0.9, 0.8]
    curves = {
        "test_accuracy": accuracy, "test_loss": [1.0] * 11 + [0.5], "train_loss": [1.0] * 12,
        "val_accuracy": [0.1] * 10 + [0.9, 0.2],
    }  # fmt: skip
    found = run_metrics(curves, chance=0.5, threshold=0.7)
    assert (found["final"], found["best"], found["final_loss"]) == (0.8, 0.9, 0.5)
    assert math.isclose(found["early5"], 0.5)
    assert math.isclose(found["early10"], 0.6)
    assert (found["epochs_to"], found["nonfinite"], found["no_learning"]) == (6, 0, 0)


def test_failures_are_counted_not_hidden() -> None:
    curves = {"test_accuracy": [0.5, 0.5], "test_loss": [0.7, None], "train_loss": [0.7, None]}
    found = run_metrics(curves, chance=0.5, threshold=0.9)
    assert (found["final"], found["nonfinite"], found["no_learning"]) == (0.5, 1, 1)
    assert math.isnan(found["epochs_to"])
    assert math.isnan(found["best"])


def test_no_learning_is_seen_through_the_rounding_of_curves() -> None:
    for right in range(100, 200):
        rounded = finite(right / 300)
        curves = {"test_accuracy": [rounded], "test_loss": [1.0], "train_loss": [1.0]}
        assert run_metrics(curves, chance=right / 300, threshold=0.9)["no_learning"] == 1
        assert run_metrics(curves, chance=(right - 1) / 300, threshold=0.9)["no_learning"] == 0


def test_epochs_count_from_one() -> None:
    assert epochs_to([0.1, 0.8, 0.2], 0.8) == 2
    assert math.isnan(epochs_to([0.1], 0.8))
