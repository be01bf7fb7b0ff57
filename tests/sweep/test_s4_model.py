from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tdi_plugin.s4.paths import default_checkout
from tdi_plugin.sweep.study import Study

TRAIN = """
import json, sys
from tdi_plugin.sweep.protocol import run_group, study_groups
from tdi_plugin.sweep.study import Study
study = Study.of(json.loads(sys.argv[1]))
print(json.dumps([[run["curves"] for run in run_group(g)["runs"]] for g in study_groups(study)]))
"""


@pytest.mark.s4
def test_builtin_and_real_s4_train_alike(tiny: Callable[..., Study], run_python: Callable[..., Any]) -> None:
    if not default_checkout().is_dir():
        pytest.skip(f"no checkout of state-spaces/s4 at {default_checkout()}; set S4_ROOT to one")
    study = tiny(datasets=["Tiny"], ratios=[1.0], seeds=1, epochs=2, batch_size=8, lr=2e-3,
                 models=["deep-batch", "s4-batch", "deep-layer", "s4-layer"])  # fmt: skip
    shown = run_python("-c", TRAIN, json.dumps(study.as_dict())).stdout
    ours_batch, theirs_batch, ours_layer, theirs_layer = json.loads(shown.strip().splitlines()[-1])
    for ours, theirs in ((ours_batch, theirs_batch), (ours_layer, theirs_layer)):
        for mine, real in zip(ours, theirs, strict=True):
            assert mine["train_loss"] == pytest.approx(real["train_loss"], rel=5e-3)
            assert mine["test_loss"] == pytest.approx(real["test_loss"], rel=5e-3)
