"""s4's own experiments with one override, model.layer.init=tdi: in their own mode, and as S4D."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytestmark = pytest.mark.s4

# Experiment, overrides that only make it small, n_ssm as its config has it (None: one row a channel).
EXPERIMENTS = {
    "lra/s4-listops": (["dataset.n_workers=1", "loader.batch_size=4"], 1),
    "lra/s4-imdb": (["loader.batch_size=4"], 1),
    "lra/s4-aan": (["+dataset.n_workers=1", "loader.batch_size=4"], 1),
    "lra/s4-cifar": (["loader.batch_size=10"], 1),
    "lra/s4-pathfinder": (["loader.batch_size=2"], None),
    "lra/s4-pathx": (["loader.batch_size=2", "model.layer.d_state=8"], None),
    "sc/s4-sc": (["loader.batch_size=10", "model.layer.d_state=8"], 2),
    "cifar/s4-cifar": (["loader.batch_size=10"], 2),
}
MODES = {"nplr": [], "diag": ["model/layer=s4d"]}
CASES = [(name, mode) for name in EXPERIMENTS for mode in MODES]


HALF = {
    "lra/s4-listops": (60, 30),
    "lra/s4-imdb": (16, 8),
    "lra/s4-aan": (16, 8),
    "lra/s4-cifar": (90, 45),
    "lra/s4-pathfinder": (16, 8),
    "sc/s4-sc": (70, 35),
}
"""Training series of the small data, and of half of them."""


@pytest.fixture(scope="module")
def runs(run_jobs, s4_data, tiny):
    whole_epoch = [o for o in tiny if not o.startswith("trainer.limit_train_batches")]
    jobs = {}
    for name, mode in CASES:
        options = [f"experiment={name}", *MODES[mode], "model.layer.init=tdi", *EXPERIMENTS[name][0]]
        if name == "lra/s4-cifar":  # its small images are noise, of which auto would leave the poles alone
            options.append("+tdi.statistic=combined")
        jobs[name, mode] = [*options, *tiny]
        if mode == "diag" and name in HALF:
            ratio = ["+tdi.train_ratio=0.5", "loader.drop_last=false"]
            jobs[name, "half"] = [*options, *whole_epoch, *ratio]
    return dict(zip(jobs, run_jobs(*jobs.values(), DATA_PATH=str(s4_data)), strict=True))


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_trains_with_the_first_layer_at_the_asked_poles(runs, case):
    run, (name, mode) = runs[case], case
    assert run["error"] is None
    assert run["outcome"] == "poles placed"
    assert run["steps"] == 2
    assert math.isfinite(run["loss"])
    first = run["kernels"][0]
    assert first["class"] == {"nplr": "SSMKernelDPLR", "diag": "SSMKernelDiag"}[mode]
    assert first["n_ssm"] == (EXPERIMENTS[name][1] or len(first["dt"]))
    layer = run["report"]["layers"][0]
    assert layer["name"] == first["name"]
    rows = np.array(layer["frequencies"])
    asked = np.tile(rows, (len(first["dt"]) // len(rows), 1))
    # Channels that share a row of poles share its step size too: each resonates where it was asked.
    np.testing.assert_allclose(first["frequency"], asked, rtol=2e-5)
    assert layer["distinct_frequencies"] == len(np.unique(rows.round(12)))


def test_number_of_distinct_frequencies_is_reported_for_tied_rows(runs):
    counts = {name: runs[name, "nplr"]["report"]["layers"][0]["distinct_frequencies"] for name in EXPERIMENTS}
    # d_state // 2 times n_ssm: three tasks of the Long Range Arena have 2 in all, whatever the width.
    assert counts["lra/s4-listops"] == counts["lra/s4-imdb"] == counts["lra/s4-aan"] == 2
    assert counts["lra/s4-cifar"] == 32
    assert counts["cifar/s4-cifar"] == 64


@pytest.mark.parametrize("name", HALF)
def test_half_of_the_training_series_is_what_trains(runs, name):
    whole, half = runs[name, "diag"], runs[name, "half"]
    assert half["error"] is None
    assert (whole["train_series"], half["train_series"]) == HALF[name]
    rows = 2 if name == "lra/s4-aan" else 1  # a pair of documents is two rows of a batch
    assert half["seen"] == rows * HALF[name][1]
    assert half["val_series"] == whole["val_series"]
