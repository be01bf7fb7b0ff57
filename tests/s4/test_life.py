"""The life of a run under s4: TDI acts when a fit starts from fresh weights, and never else."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.s4

BASE = (
    "experiment=tdi/ucr/gunpoint",
    "trainer.accelerator=cpu",
    "trainer.max_epochs=1",
    "train.test=false",
    "model.d_model=8",
    "model.layer.d_state=8",
    "~callbacks.rich_progress_bar",
)
LOW_RANK = ("model.layer.mode=nplr",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("life")


@pytest.fixture(scope="module")
def runs(run_jobs, data_path, folder):
    def at(name):
        return f"hydra.run.dir={folder / name}"

    last = folder / "first" / "checkpoints" / "last.ckpt"
    lin = "model.layer.init=diag-lin"
    jobs = {
        "first": [at("first")],
        "resumed": [f"train.ckpt={last}", "trainer.max_epochs=2", at("resumed")],
        "pretrained": [f"train.pretrained_model_path={last}", at("pretrained")],
        "validated": ["train.validate_at_start=true"],
        "low rank": [*LOW_RANK],
        "low rank validated": [*LOW_RANK, "train.validate_at_start=true"],
        "validated lin": ["train.validate_at_start=true", lin],
        "ema": ["train.ema=0.9"],
        "bidirectional": ["model.layer.bidirectional=true"],
        "fast dev run": ["+trainer.fast_dev_run=true"],
        "no group": ["~tdi"],
        "disabled": ["tdi.enabled=false"],
        "wandb": ["wandb={project: life, mode: offline, save_dir: .}", at("wandb")],
        "fast kernel": ["tdi.fast_kernel=true"],
        "own seed": ["tdi.allocation=sample", "tdi.seed=1"],
    }
    results = run_jobs(*([*BASE, *more] for more in jobs.values()), DATA_PATH=str(data_path))
    return dict(zip(jobs, results, strict=True))


def poles(run, when="kernels"):
    return np.array(run[when][0]["frequency"])


def test_every_run_ends_well(runs):
    assert {name: run["error"] for name, run in runs.items() if run["error"]} == {}


@pytest.mark.parametrize(
    "name", ["validated", "ema", "bidirectional", "fast dev run", "no group", "wandb", "fast kernel"]
)
def test_acts_with_the_same_poles_as_the_first_run(runs, name):
    assert runs[name]["outcome"] == "poles placed"
    np.testing.assert_array_equal(poles(runs[name]), poles(runs["first"]))


def test_poles_are_what_the_first_step_sees(runs):
    np.testing.assert_array_equal(poles(runs["first"], "started_with"), poles(runs["first"]))


def test_resumed_run_keeps_the_trained_poles(runs, folder):
    import torch

    resumed = runs["resumed"]
    assert resumed["outcome"].startswith("skipped: the run resumes")
    assert resumed["report"] is None
    assert resumed["steps_before"] == runs["first"]["steps"] > 0
    saved = torch.load(folder / "first" / "checkpoints" / "last.ckpt", weights_only=False)
    name = resumed["kernels"][0]["name"]
    imaginary = saved["state_dict"][f"{name}.A_imag"]
    assert not np.allclose(poles(resumed, "started_with"), poles(resumed, "kernels"))
    dt = np.array(resumed["started_with"][0]["dt"])[:, None]
    np.testing.assert_allclose(poles(resumed, "started_with"), imaginary * dt / (2 * np.pi), rtol=1e-5)
    assert resumed["outcome_at_end"] == ["restored from checkpoint"]


def test_pretrained_weights_stay(runs, folder):
    run = runs["pretrained"]
    assert run["outcome"].startswith("skipped: pretrained")
    np.testing.assert_array_equal(poles(run, "started_with"), poles(runs["resumed"], "started_with"))


@pytest.mark.parametrize(("name", "reference"), [("validated", "first"), ("low rank validated", "low rank")])
def test_validation_before_training_changes_nothing(runs, name, reference):
    before, without = runs[name]["kernels"][0], runs[reference]["kernels"][0]
    for key in ("frequency", "tau", "dt"):
        np.testing.assert_array_equal(before[key], without[key])
    np.testing.assert_allclose(before["C"], without["C"], rtol=1e-4, atol=1e-5)


def test_baseline_sees_the_same_batches_after_validation(runs):
    assert runs["validated lin"]["outcome"].startswith("off")
    assert runs["validated lin"]["batches"] == runs["validated"]["batches"]


def test_off_when_told(runs):
    assert runs["disabled"]["outcome"] == "skipped: tdi.enabled is false"
    assert not np.allclose(poles(runs["disabled"]), poles(runs["first"]))


def test_own_seed_moves_the_poles_and_nothing_else(runs):
    assert not np.allclose(poles(runs["own seed"]), poles(runs["first"]))
    assert runs["own seed"]["batches"] == runs["first"]["batches"]
    assert runs["own seed"]["kernels"][0]["C"] == runs["first"]["kernels"][0]["C"]


def test_record_is_in_checkpoint_and_logger(runs, folder):
    import torch

    saved = torch.load(folder / "first" / "checkpoints" / "last.ckpt", weights_only=False)
    record = saved["tdi"]
    assert record["outcome"] == "poles placed"
    asked = runs["first"]["report"]["layers"][0]["frequencies"]
    assert record["layers"][0]["frequencies"] == asked
    (spectrum,) = record["spectra"].values()
    assert spectrum["statistic"] == runs["first"]["statistic"]
    assert spectrum["power"]
    (logged,) = (folder / "first").rglob("hparams.yaml")
    written = yaml.safe_load(logged.read_text())["tdi_result"]
    assert written["outcome"] == "poles placed"
    assert written["layers"][0]["frequencies"] == asked


def test_record_is_in_weights_and_biases(runs, folder):
    (offline,) = (folder / "wandb").rglob("run-*.wandb")
    written = offline.read_bytes()
    assert b"tdi_result" in written
    assert b"poles placed" in written


def test_two_processes_start_from_the_same_poles(s4_python, s4_root, data_path, folder):
    s4_python(
        "-c",
        "import sys; from tdi_plugin.cli import main; sys.exit(main(['s4', 'train', *sys.argv[1:]]))",
        s4_root,
        *BASE,
        "trainer.devices=2",
        "trainer.strategy=ddp",
        "tdi.allocation=sample",
        f"hydra.run.dir={folder / 'ddp'}",
        DATA_PATH=str(data_path),
    )
    logs = [folder / "ddp" / name for name in ("train.log", "train_ddp_process_1.log")]
    reports = [log.read_text().split("TDI placed the poles\n")[1].split("\n[")[0].strip() for log in logs]
    assert "SSMKernelDiag" in reports[0]
    assert reports[0] == reports[1]
    assert list((folder / "ddp" / "checkpoints").glob("last*.ckpt"))


def test_checkpoint_is_evaluated_without_touching_it(s4_python, s4_root, data_path, folder, runs):
    code = """
import sys
from tdi_plugin.s4 import launch
launch.prepare(sys.argv[1])
import pytorch_lightning as pl, torch
import src.utils.registry
from omegaconf import OmegaConf
from tdi_plugin.s4 import register
import src.utils.train
register()
sys.argv, folder = sys.argv[:1], sys.argv[2]
config = src.utils.train.process_config(OmegaConf.load(folder + "/.hydra/config.yaml"))
from train import SequenceLightningModule, create_trainer
saved = torch.load(folder + "/checkpoints/last.ckpt", weights_only=False)["state_dict"]
model = SequenceLightningModule.load_from_checkpoint(
    folder + "/checkpoints/last.ckpt", config=config, weights_only=False
)
trainer = create_trainer(config)
(ours,) = [c for c in trainer.callbacks if type(c).__name__ == "TaskDependentInit"]
trainer.test(model)
assert ours.outcome == "not run", ours.outcome
assert all(torch.equal(value, saved[name]) for name, value in model.state_dict().items())
print("as saved")
"""
    printed = s4_python("-c", code, s4_root, folder / "first", DATA_PATH=str(data_path))
    assert "as saved" in printed
