from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep.markdown import signed
from tdi_plugin.sweep.metrics import run_metrics
from tdi_plugin.sweep.published import BY_RATIO
from tdi_plugin.sweep.report import write_report
from tdi_plugin.sweep.rows import Row, pairs
from tdi_plugin.sweep.runner import plan, run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study
from tdi_plugin.sweep.tables import arm_table, model_table


def row(dataset: str, ratio: float, seed: int, arm: str, accuracy: list[float]) -> Row:
    curves = {
        "test_accuracy": accuracy,
        "test_loss": [1.0] * len(accuracy),
        "train_loss": [1.0] * len(accuracy),
    }
    return Row(
        "one", "one-layer", dataset, ratio, seed, arm, 10, False, run_metrics(curves, 0.2, 0.8), curves
    )


@pytest.fixture
def rows() -> list[Row]:
    base, better = [0.3, 0.4, 0.5, 0.6], [0.4, 0.6, 0.6, 0.7]
    return [
        row("ECG5000", 0.04, 0, "lin", base), row("ECG5000", 0.04, 0, "tdi", better),
        row("ECG5000", 0.04, 1, "lin", base), row("ECG5000", 0.04, 1, "tdi", base),
        row("Wafer", 0.64, 0, "lin", better), row("Wafer", 0.64, 0, "tdi", base),
        row("Wafer", 0.64, 1, "lin", base),
    ]  # fmt: skip


def test_only_matched_runs_are_compared(rows: list[Row]) -> None:
    assert len(pairs(rows, "lin", "tdi")) == 3


def test_gains_by_hand(rows: list[Row]) -> None:
    found = arm_table(pairs(rows, "lin", "tdi"), "one-layer", 0.16, 0.64)
    assert found["overall"]["final"]["mean"] == pytest.approx((10 + 0 - 10) / 3)
    assert found["low"]["final"]["mean"] == pytest.approx(5.0)
    assert found["high"]["final"]["mean"] == pytest.approx(-10.0)
    assert found["early10_conditions"] == {"won": 1, "of": 2}
    first, second = found["by_ratio"]
    assert (first["ratio"], first["published"]) == (0.04, BY_RATIO[0.04])
    deep = arm_table(pairs(rows, "lin", "tdi"), "deep", 0.16, 0.64)["by_ratio"]
    assert [entry["published"] for entry in deep] == [None, None]
    assert (first["final"]["wins"], first["final"]["ties"], first["final"]["losses"]) == (1, 1, 0)
    assert first["early5"]["mean"] == pytest.approx(100 * (0.575 - 0.45) / 2)
    assert second["final"]["losses"] == 1


def test_data_sets_stand_beside_the_published_figures(rows: list[Row]) -> None:
    found = arm_table(pairs(rows, "lin", "tdi"), "one-layer", 0.16, 0.64)["by_dataset"]
    low, whole = (r for r in found if r["dataset"] == "ECG5000")
    assert (low["base"], low["base_sd"], low["published"]) == (60.0, 0.0, (62.9, 72.8))
    assert low["other"] == pytest.approx(65.0)
    assert low["other_sd"] == pytest.approx(50**0.5)
    assert whole["published"] is None
    wafer = next(r for r in found if r["dataset"] == "Wafer")
    assert wafer["published"] == (94.9, 95.5)


def test_epochs_to_the_baselines_final_accuracy(rows: list[Row]) -> None:
    found = arm_table(pairs(rows, "lin", "tdi"), "one-layer", 0.16, 0.64)["speed"]
    # base reaches its own final at epoch 4 each time; tdi at 2, at 4, and never (4 epochs in all)
    assert (found["base_epochs"], found["other_epochs"]) == (4.0, pytest.approx(10 / 3))
    assert (found["never"], found["of"]) == (1, 3)


def test_failures_stay_in_the_means() -> None:
    dead = row("A", 0.1, 0, "tdi", [0.2, 0.2])
    table = model_table([row("A", 0.1, 0, "lin", [0.2, 0.6]), dead], "lin", 0.16, 0.64)
    assert table["failures"]["tdi"] == {"runs": 1, "nonfinite": 0, "no_learning": 1, "abstained": 0}
    assert table["arms"]["tdi"]["overall"]["final"]["mean"] == pytest.approx(-40.0)


def test_report_files_agree_with_the_store(tiny: Callable[..., Study], tmp_path: Path) -> None:
    study, store = tiny(arms=["lin", "fisher", "flat"]), Store(tmp_path / "s")
    run_study(study, store)
    text, paths = write_report(store, "tiny", tmp_path / "out")
    assert "S4D-Lin" in text
    assert "TDI fisher" in text
    assert "| arm | Tiny | Small |" in text
    (cells,) = [
        line.split(" | ")
        for line in text.splitlines()
        if line.startswith("| TDI fisher | ") and "/4)" in line
    ]
    by_suffix: dict[str, list[Path]] = {}
    for path in paths:
        by_suffix.setdefault(path.suffix, []).append(path)
    with open(by_suffix[".csv"][0], newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 2 * 2 * 3
    value = {(r["dataset"], r["ratio"], r["seed"], r["arm"]): float(r["final"]) for r in lines}
    gains = [100 * (v - value[(*k[:3], "lin")]) for k, v in value.items() if k[3] == "fisher"]
    table = json.loads(by_suffix[".json"][0].read_text())["one-power"]["arms"]["fisher"]
    assert table["overall"]["final"]["mean"] == pytest.approx(sum(gains) / len(gains))
    tiny_gains = [
        100 * (v - value[(*k[:3], "lin")]) for k, v in value.items() if k[0] == "Tiny" and k[3] == "fisher"
    ]
    assert cells[1] == f"{signed(sum(tiny_gains) / 4)} ({sum(g > 1e-9 for g in tiny_gains)}/4)"
    assert len(by_suffix[".png"]) >= 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in by_suffix[".png"])


def test_a_partial_study_says_what_is_missing(tiny: Callable[..., Study], tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_study(tiny(name="part", datasets=["Tiny"]), store)
    plan(tiny(), store)
    text, _ = write_report(store, "tiny", tmp_path / "out", plots=False)
    assert "Not finished yet: Small 25 % one-power, Small 50 % one-power." in text


def test_empty_stores_and_unknown_studies_are_named(tiny: Callable[..., Study], tmp_path: Path) -> None:
    store = Store(tmp_path)
    plan(tiny(), store)
    with pytest.raises(DataError, match="No finished group"):
        write_report(store, None, tmp_path)
    with pytest.raises(OptionError, match="did you mean 'tiny'"):
        write_report(store, "tinny", tmp_path)
