"""auto tells phase-locked tasks from those where only energy counts, and says when it sees neither."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from tdi_plugin.data import nested_subset
from tdi_plugin.spectrum import TaskSpectrum, task_spectrum
from tdi_plugin.spectrum.auto import PENALTIES, decide, left_out_error


def test_left_out_error_is_that_of_refitting_without_each_series() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(25, 8)), rng.normal(size=(25, 2))
    y += 3 * x[:, :2]
    error, p_value = left_out_error(torch.from_numpy(x), torch.from_numpy(y), seed=0)
    unit = np.linalg.eigvalsh((x - x.mean(0)) @ (x - x.mean(0)).T).clip(0).mean()
    refitted = [
        ((y - cross_val_predict(Ridge(alpha=penalty * unit), x, y, cv=LeaveOneOut())) ** 2).sum()
        for penalty in PENALTIES
    ]
    chance = sum(((y[i] - np.delete(y, i, axis=0).mean(0)) ** 2).sum() for i in range(25))
    assert error == pytest.approx(min(refitted) / chance, rel=1e-8)
    assert p_value == pytest.approx(0.01)


def labelled(kind: str, seed: int, rows: int = 60, length: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y, clock = rng.permutation(np.arange(rows) % 2), np.arange(length)
    x = rng.normal(size=(rows, length))
    phase = rng.uniform(0, 2 * np.pi, (rows, 1))
    if kind == "fisher":
        x += 2.0 * y[:, None] * np.sin(2 * np.pi * 0.2 * clock + phase)
    if kind == "cross":
        x += np.where(y[:, None] == 1, 1.5, -1.5) * np.sin(2 * np.pi * 0.2 * clock)
    if kind == "combined":
        x += 2.0 * y[:, None] * np.sin(2 * np.pi * 0.2 * clock)
    return x, y


@pytest.mark.parametrize("kind", ["fisher", "cross", "combined"])
def test_kinds_of_task_are_told_apart(kind: str) -> None:
    for seed in range(5):
        found = task_spectrum(*labelled(kind, seed))
        assert found.statistic == kind
        assert found.frequencies[found.density.argmax()] == pytest.approx(0.2, abs=0.0126)
        assert set(found.scores) == {"linear", "linear_p", "log_power", "log_power_p"}
        assert "leave-one-out error" in found.reason


def test_labels_that_say_nothing_make_it_abstain() -> None:
    chosen = [task_spectrum(*labelled("none", seed)) for seed in range(20)]
    silent = [found for found in chosen if found.statistic == "power"]
    assert len(silent) >= 16
    assert all(found.reason.startswith("no label information found") for found in silent)
    assert all(found.abstains == (found.statistic == "power") for found in chosen)
    x, _ = labelled("none", 0)
    torch.testing.assert_close(silent[0].power, task_spectrum(x, None, "power").power)


def test_real_targets_choose_between_cross_and_nothing() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 40))
    target = x @ np.cos(2 * np.pi * 0.25 * np.arange(40))
    found = task_spectrum(x, target)
    assert found.statistic == "cross"
    assert found.frequencies[found.density.argmax()] == 0.25
    assert task_spectrum(x, rng.normal(size=60)).statistic == "power"


def test_the_rule_on_its_own() -> None:
    scores = {"linear": 0.5, "linear_p": 0.01, "log_power": 0.5, "log_power_p": 0.01}
    assert decide(scores).statistic == "combined"
    assert decide({**scores, "linear": 0.9, "log_power": 0.2}).statistic == "fisher"
    assert decide({**scores, "linear": 0.61}).statistic == "fisher"
    assert "better than waves do" in decide({**scores, "linear": 0.61}).reason
    assert decide({**scores, "linear": 1.05, "log_power": 1.02}).statistic == "combined"
    assert decide({**scores, "linear": 0.59}).statistic == "combined"
    assert decide({**scores, "log_power": 0.87}).statistic == "combined"
    assert decide({**scores, "log_power": 0.88}).statistic == "cross"
    assert decide({**scores, "log_power": 0.95}).statistic == "cross"
    assert decide({**scores, "log_power_p": 0.2}).statistic == "cross"
    assert decide({**scores, "linear_p": 0.2}).statistic == "fisher"
    assert decide({**scores, "linear_p": 0.2, "log_power_p": 0.2}).statistic == "power"
    assert decide({"linear": 0.8, "linear_p": 0.01}).statistic == "cross"
    assert decide({**scores, "linear": 1.02, "log_power_p": 0.2}).statistic == "cross"
    assert decide({**scores, "log_power": 1.02, "linear_p": 0.2}).statistic == "fisher"
    assert "log-power" not in decide({"linear": 0.8, "linear_p": 0.2}).reason


def choices_on(data_path: Path, name: str, ratio: float) -> list[TaskSpectrum]:
    table = np.loadtxt(data_path / "UCRArchive_2018" / name / f"{name}_TRAIN.tsv", dtype=np.float32)
    y, x = table[:, 0].astype(int), table[:, 1:]
    return [task_spectrum(x[rows], y[rows]) for rows in (nested_subset(y, ratio, s) for s in range(10))]


def test_small_parts_of_two_archive_sets_get_the_right_statistic(data_path: Path) -> None:
    beats = Counter(found.statistic for found in choices_on(data_path, "ECG5000", 0.04))
    engines = Counter(found.statistic for found in choices_on(data_path, "FordA", 0.04))
    assert beats["cross"] + beats["combined"] + engines["fisher"] >= 18, (beats, engines)


def test_it_is_done_on_a_bounded_part_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(
        "tdi_plugin.spectrum.auto.left_out_error",
        lambda features, targets, seed: seen.append(len(features)) or (0.5, 0.01),
    )
    task_spectrum(torch.randn(3000, 32), torch.arange(3000) % 2)
    assert seen == [512, 512]
