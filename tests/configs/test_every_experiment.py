"""Every experiment file composes and trains on the builtin trainer, or says that it needs s4."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tdi_plugin.errors import OptionError
from tdi_plugin.lit import DATA_OF_S4
from tdi_plugin.search_path import config_dir

FOLDER = config_dir() / "experiment" / "tdi"
EXPERIMENTS = sorted(str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.rglob("*.yaml"))
PUBLISHED = {
    *(f"lra/{name}" for name in ("listops", "imdb", "aan", "cifar", "pathfinder", "pathx")),
    *("sc/sc35", "sc/sc10", "mnist/smnist", "synthetic/freqcls", "synthetic/tone_regression"),
    *(f"ucr/{name}" for name in ("base", "ecg5000", "wafer", "forda", "gunpoint")),
}
SMALL = (
    "tdi/size=cpu",
    "model.d_model=4",
    "model.layer.d_state=4",
    "+trainer.fast_dev_run=true",
    "loader.batch_size=4",
)
SMALLER_DATA = {
    "synthetic": ["dataset.n_train=20", "dataset.n_val=10", "dataset.n_test=10", "dataset.length=64"],
    "sc": ["dataset.stride=8"],
    "mnist": ["tdi.train_ratio=0.2"],
    "lra": [],
    "ucr": [],
}


@pytest.fixture(scope="module")
def data(run_python, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    run_python(str(Path(__file__).parent.parent / "small_data.py"), "ours", str(folder))
    return folder


@pytest.fixture
def train(monkeypatch, tmp_path):
    """`tdi train` in this process; gives the module that was trained."""
    from tdi_plugin import train as command
    from tdi_plugin import train_run

    seen = []
    monkeypatch.setattr(
        train_run, "show", lambda config, module, callback, *_: seen.append((module, callback))
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tdi"])

    def run(*overrides: str):
        command.main(list(overrides))
        return seen[0]

    return run


def test_files_are_the_published_ones():
    assert set(EXPERIMENTS) == PUBLISHED


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_trains_a_step_or_says_that_it_needs_s4(train, data, monkeypatch, name):
    monkeypatch.setenv("DATA_PATH", str(data))
    overrides = [f"experiment=tdi/{name}", *SMALL, *SMALLER_DATA[name.split("/")[0]]]
    if name == "ucr/base":
        overrides.append("ucr.name=Plane")
    if name.split("/")[-1] in ("imdb", "aan", "cifar", "pathfinder", "pathx"):
        with pytest.raises(OptionError, match=r"tdi s4 train PATH"):
            train(*overrides)
        return
    module, callback = train(*overrides)
    assert module.hparams["dataset"]["_name_"] not in DATA_OF_S4
    says_nothing = [spectrum.abstains for spectrum in callback.spectra.values()]  # small noise images
    assert callback.outcome == ("own poles kept" if all(says_nothing) else "poles placed")
    assert callback.report.layers[0].task.any() == (callback.outcome == "poles placed")
    assert callback.report.layers[0].n_ssm == 4
