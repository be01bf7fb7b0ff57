"""`tdi train` on two processes: one set of poles, one table, metrics of both."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

pytest.importorskip("aeon", reason="GunPoint comes with aeon")

CALL = "import sys; from tdi_plugin.cli import main; sys.exit(main(['train', *sys.argv[1:]]))"
FROZEN = [
    "experiment=tdi/ucr/gunpoint", "trainer.max_epochs=1", "trainer.accelerator=cpu", "model.norm=layer",
    "model.d_model=4", "model.layer.d_state=8", "optimizer.lr=0", "model.layer.lr=0.0",
]  # fmt: skip
RUNS = {"one": [], "two": ["trainer.devices=2", "+trainer.strategy=ddp"]}


def test_two_processes_place_the_poles_of_one(run_python: Callable, tmp_path: Path) -> None:
    for name, more in RUNS.items():
        words = [*FROZEN, *more, f"hydra.run.dir={name}"]
        done = run_python("-c", CALL, *words, cwd=tmp_path, OMP_NUM_THREADS="1")
        assert done.stdout.count("training series") == 1
        assert "sync_dist" not in done.stderr
    one, two = (
        torch.load(tmp_path / name / "checkpoints" / "last.ckpt", weights_only=False) for name in RUNS
    )
    assert two["tdi"]["layers"] == one["tdi"]["layers"]
    assert all(torch.equal(value, two["state_dict"][key]) for key, value in one["state_dict"].items())
    first, second = (last_row(tmp_path / name / "csv" / "metrics.csv") for name in RUNS)
    # 150 test series divide by two, so the means over both halves are those over all.
    assert float(second["test/accuracy"]) == pytest.approx(float(first["test/accuracy"]), abs=1e-6)
    assert float(second["test/loss"]) == pytest.approx(float(first["test/loss"]), rel=1e-4)


def last_row(path: Path) -> dict[str, str]:
    rows = [row for row in csv.DictReader(path.read_text().splitlines()) if row["test/loss"]]
    return rows[-1]
