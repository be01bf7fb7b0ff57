"""The builtin trainer, end to end on real series: with and without TDI the same run but for the poles."""

from __future__ import annotations

import copy
import csv
import json

import pytest
import pytorch_lightning as pl
import torch

pytest.importorskip("aeon", reason="GunPoint comes with aeon")

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from tdi_plugin.cli import main
from tdi_plugin.lightning import task_dependent_init_for
from tdi_plugin.lit import BuiltinModule
from tdi_plugin.search_path import announce_own_command, builtin_config_dir

FAST = ["trainer.max_epochs=1", "trainer.accelerator=cpu", "model.d_model=8", "model.layer.d_state=8"]


def composed(*overrides: str) -> dict:
    announce_own_command()
    with initialize_config_dir(str(builtin_config_dir()), version_base="1.3"):
        config = compose("config", ["experiment=tdi/ucr/gunpoint", *FAST, *overrides])
    return OmegaConf.to_container(config, resolve=True)


class Recorder(pl.Callback):
    """What really trains: the series, the model before the first step, the optimiser's groups."""

    def on_train_start(self, trainer, pl_module):
        self.n_series = len(trainer.train_dataloader.dataset)
        self.state = copy.deepcopy(pl_module.state_dict())
        self.groups = [
            ({k: v for k, v in group.items() if k != "params"}, [tuple(p.shape) for p in group["params"]])
            for group in trainer.optimizers[0].param_groups
        ]

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.batches = [*getattr(self, "batches", []), batch[0].clone()]


def fitted(tmp_path, *overrides: str, callback=None):
    config = composed(*overrides)
    pl.seed_everything(config["train"]["seed"], verbose=False)
    module, recorder = BuiltinModule(config), Recorder()
    callback = callback or task_dependent_init_for("pytorch_lightning")(named_only=True)
    trainer = pl.Trainer(
        **config["trainer"], callbacks=[callback, recorder], logger=False, default_root_dir=tmp_path,
        enable_checkpointing=False, enable_progress_bar=False,
    )  # fmt: skip
    trainer.fit(module)
    return callback, recorder, module


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    return [fitted(folder, f"model.layer.init={init}", "tdi.train_ratio=0.5") for init in ("tdi", "diag-lin")]


def test_poles_are_placed_and_read_back(pair):
    callback, recorder, module = pair[0]
    assert callback.outcome == "poles placed"
    layer = callback.report.layers[0]
    kernel = module.network.model.layers[0].layer.layer.kernel
    assert layer.host
    with torch.no_grad():
        kernel.load_state_dict(
            {
                k.split("kernel.")[1]: v
                for k, v in recorder.state.items()
                if ".layers.0." in k and "kernel." in k
            }
        )
        dt, A, *_ = kernel._get_params()
    torch.testing.assert_close(
        -(dt * A).imag.double() / (2 * torch.pi), layer.frequencies.double(), rtol=1e-5, atol=1e-7
    )


def test_paired_runs_differ_by_the_first_layers_poles_alone(pair):
    (_, tdi, _), (off, lin, _) = pair
    assert off.outcome.startswith("off")
    assert tdi.state.keys() == lin.state.keys()
    changed = set()
    for name, value in tdi.state.items():
        assert value.dtype == lin.state[name].dtype
        assert value.shape == lin.state[name].shape
        if not torch.equal(value, lin.state[name]):
            changed.add(name)
    assert changed == {"network.model.layers.0.layer.layer.kernel.A_imag"}
    assert tdi.groups == lin.groups
    assert all(torch.equal(a, b) for a, b in zip(tdi.batches, lin.batches, strict=True))


def test_the_loader_that_trains_holds_the_subset(pair):
    assert [recorder.n_series for _, recorder, _ in pair] == [25, 25]


def test_full_ratio_keeps_every_series(tmp_path):
    assert fitted(tmp_path, "model.layer.init=diag-lin")[1].n_series == 50


@pytest.mark.parametrize(
    ("overrides", "outcome"),
    [
        (["tdi.enabled=false"], "skipped: tdi.enabled is false"),
        (["train.ckpt=some.ckpt"], "skipped: the run resumes from a checkpoint"),
        (["+train.pretrained_model_path=some.ckpt"], "skipped: pretrained weights are loaded"),
    ],
)
def test_weights_that_are_there_stay(tmp_path, overrides, outcome):
    assert fitted(tmp_path, *overrides)[0].outcome == outcome


def test_a_second_callback_does_nothing(tmp_path):
    second = task_dependent_init_for("pytorch_lightning")(statistic="cross")
    config = composed()
    module = BuiltinModule(config)
    first = task_dependent_init_for("pytorch_lightning")(named_only=True)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = pl.Trainer(**config["trainer"], **quiet, callbacks=[first, second], default_root_dir=tmp_path)
    trainer.fit(module)
    assert (first.outcome, second.outcome) == ("poles placed", "not run")


def test_command_trains_and_leaves_metrics_and_record(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_SILENT", "true")
    arguments = ["experiment=tdi/ucr/gunpoint", *FAST, "trainer.max_epochs=2", "hydra.run.dir=out"]
    assert main(["train", *arguments, "wandb={project: tdi, mode: offline}"]) == 0
    assert "poles placed" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "out" / "csv" / "metrics.csv").read_text().splitlines()))
    accuracies = [float(row["test/accuracy"]) for row in rows if row["test/accuracy"]]
    assert len(accuracies) == 2
    checkpoint = torch.load(tmp_path / "out" / "checkpoints" / "last.ckpt", weights_only=False)
    assert checkpoint["tdi"]["outcome"] == "poles placed"
    json.dumps(checkpoint["tdi"])
    assert list((tmp_path / "out" / "wandb").glob("offline-run-*"))


@pytest.mark.filterwarnings("ignore:The dirpath has changed")
def test_resumed_run_goes_on_with_the_checkpoints_poles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["train", "experiment=tdi/ucr/gunpoint", *FAST, "scheduler=constant"]
    main([*arguments, "trainer.max_epochs=1", "hydra.run.dir=one"])
    main([*arguments, "trainer.max_epochs=2", "hydra.run.dir=two", "train.ckpt=one/checkpoints/last.ckpt"])
    first, second = (
        torch.load(tmp_path / folder / "checkpoints" / "last.ckpt", weights_only=False)
        for folder in ("one", "two")
    )
    assert (first["epoch"], second["epoch"]) == (0, 1)
    assert second["tdi"]["outcome"] == "restored from checkpoint"
    assert second["tdi"]["layers"] == first["tdi"]["layers"]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ([], "No experiment was chosen"),
        (["experiment=tdi/ucr/gunpoint", "dataset.name=GunPont"], "GunPoint"),
        (["experiment=tdi/ucr/gunpoint", "tdi.alocation=topk", *FAST], "did you mean 'allocation'"),
        (["experiment=tdi/ucr/gunpoint", "+model.n_layer=3"], "did you mean 'n_layers'"),
        (["experiment=tdi/ucr/gunpoint", "tdi.train_ratio=1.5"], r"train_ratio=1.5"),
        (["experiment=tdi/ucr/gunpoint", "train.ckpt=no.ckpt"], "No checkpoint at train.ckpt=no.ckpt"),
        (["experiment=tdi/ucr/gunpoint", "wandb=3"], "wandb=3; expected a mapping"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, overrides, message):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *overrides]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
