"""Our experiments under s4's train.py: every file trains, with the values of the builtin trainer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tdi_plugin.search_path import builtin_config_dir, config_dir

pytestmark = pytest.mark.s4

FOLDER = config_dir() / "experiment" / "tdi"
EXPERIMENTS = sorted(str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.rglob("*.yaml"))
MORE = {
    "ucr/base": ["ucr.name=Plane"],
    "synthetic/freqcls": ["dataset.n_train=20", "dataset.n_val=10", "dataset.n_test=10", "dataset.length=64"],
    "synthetic/tone_regression": [
        "dataset.n_train=20",
        "dataset.n_val=10",
        "dataset.n_test=10",
        "dataset.length=64",
    ],
    "lra/aan": ["dataset.n_workers=1"],
    "lra/pathx": ["loader.batch_size=2"],
    # their small images are noise, of which auto would leave the poles alone
    "lra/cifar": ["tdi.statistic=combined"],
    "mnist/smnist": ["tdi.statistic=combined"],
}
# What decides a result: trainer, scheduler, ... are s4's own files there and ours on the builtin side.
SHARED = {
    "model": (
        "_name_",
        "d_model",
        "n_layers",
        "prenorm",
        "norm",
        "dropout",
        "residual",
        "tie_dropout",
        "transposed",
    ),
    "loader": ("batch_size", "num_workers", "pin_memory", "drop_last"),
    "optimizer": ("_name_", "lr", "weight_decay", "betas"),
    "scheduler": ("_name_", "T_max", "eta_min"),
    "trainer": (
        "accelerator",
        "devices",
        "max_epochs",
        "gradient_clip_val",
        "limit_train_batches",
        "limit_val_batches",
        "log_every_n_steps",
    ),
    "train": ("seed", "monitor", "mode", "interval", "test", "ckpt"),
}
LAYER = (
    *(
        "_name_",
        "d_state",
        "n_ssm",
        "init",
        "mode",
        "lr",
        "wd",
        "dt_min",
        "dt_max",
        "dt_transform",
        "channels",
    ),
    *("bidirectional", "activation", "final_act", "layer", "tie_dropout", "l_max"),
)


@pytest.fixture(scope="module")
def runs(run_jobs, s4_data, tiny):
    small = [o for o in tiny if not o.startswith("wandb")]
    jobs = []
    for name in EXPERIMENTS:
        size = ["loader.batch_size=4", "model.layer.d_state=8", "train.test=false"]
        jobs.append([f"experiment=tdi/{name}", "tdi/size=cpu", *small, *size, *MORE.get(name, [])])
    return dict(zip(EXPERIMENTS, run_jobs(*jobs, DATA_PATH=str(s4_data)), strict=True))


@pytest.fixture(scope="module")
def composed(s4_python, s4_root, tmp_path_factory):
    out = tmp_path_factory.mktemp("composed") / "s4.json"
    script = __file__.replace("test_experiments.py", "compose.py")
    s4_python(script, s4_root, out, *(f"tdi/{name}" for name in EXPERIMENTS))
    return json.loads(out.read_text())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_trains_under_s4_with_poles_placed(runs, name):
    run = runs[name]
    assert run["error"] is None
    assert run["outcome"] == "poles placed"
    assert run["steps"] == 2
    first, layer = run["kernels"][0], run["report"]["layers"][0]
    assert first["class"] == "SSMKernelDiag"
    assert not layer["tied"]
    np.testing.assert_allclose(first["frequency"], layer["frequencies"], rtol=2e-5)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_key_values_are_those_of_the_builtin_trainer(composed, name):
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    from tdi_plugin.search_path import announce_own_command

    announce_own_command()
    with initialize_config_dir(str(builtin_config_dir()), version_base="1.3"):
        config = compose("config", overrides=[f"experiment=tdi/{name}"])
    if "ucr" in config and OmegaConf.is_missing(config.ucr, "name"):
        config.ucr.name = "Plane"
    builtin, s4 = OmegaConf.to_container(config, resolve=True), composed[f"tdi/{name}"]
    for group, keys in SHARED.items():
        for key in keys:
            assert s4[group].get(key) == builtin[group].get(key), f"{group}.{key}"
    for key in LAYER:
        assert s4["model"]["layer"].get(key) == builtin["model"]["layer"].get(key), f"model.layer.{key}"
    for group in ("dataset", "encoder", "decoder", "tdi", "wandb"):
        assert s4[group] == builtin[group], group
    for key in ("_name_", "loss"):
        assert s4["task"][key] == builtin["task"][key]
