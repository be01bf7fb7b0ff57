from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdi_plugin.cli import main
from tdi_plugin.errors import OptionError, choices
from tdi_plugin.hydra_errors import FULL_ERROR, readable_hydra_errors

GUNPOINT = "experiment=tdi/ucr/gunpoint"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["experiment=tdi/ucr/gunpint"], "No experiment 'tdi/ucr/gunpint': did you mean 'tdi/ucr/gunpoint'?"),
        ([GUNPOINT, "model/layer=s4d_tid"], "No model/layer 's4d_tid': did you mean 's4d_tdi'?"),
        ([GUNPOINT, "trainer=fast"], "No trainer 'fast': Known: default."),
        (
            [GUNPOINT, "dataset.data_dir=/${x}"],
            "dataset.data_dir: Interpolation key 'x' not found. Hydra takes",
        ),
        ([GUNPOINT, "modle.layer.init=tdi"], "Could not override 'modle.layer.init'"),
        (["experiment=tdi/ucr/base"], "ucr.name has no value yet: add ucr.name=VALUE."),
        (["experiment"], "Error parsing override 'experiment'"),
    ],
)
def test_hydras_error_becomes_ours(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    overrides: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FULL_ERROR, raising=False)
    assert main(["train", *overrides]) == 2
    error = capsys.readouterr().err
    assert f"tdi train: {message}" in error
    assert "Traceback" not in error
    assert "HYDRA_FULL_ERROR" not in error
    assert FULL_ERROR not in os.environ


def test_a_job_that_fails_in_another_process_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    monkeypatch.chdir(tmp_path)
    words = [
        "-m",
        "hydra/launcher=joblib",
        "hydra.launcher.n_jobs=2",
        GUNPOINT,
        "dataset.name=GunPont,Gunpoint",
    ]
    assert main(["train", *words]) == 2
    assert "UCR set 'GunPont' was not found: did you mean 'GunPoint'?" in capsys.readouterr().err


def test_what_the_user_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from hydra.errors import ConfigCompositionException

    monkeypatch.setenv(FULL_ERROR, "0")
    with readable_hydra_errors():
        assert os.environ[FULL_ERROR] == "1"
    with pytest.raises(OptionError, match="words"), readable_hydra_errors():
        raise ConfigCompositionException("words")
    assert os.environ[FULL_ERROR] == "0"


def test_of_many_names_the_nearest_are_given() -> None:
    names = [f"lra/task{i}" for i in range(60)] + ["sc/speech"]
    assert choices("sc/spech", names).startswith("did you mean 'sc/speech'? Known: sc/speech, ")
    assert choices("sc/spech", names).endswith("and 53 more.")
    assert choices("a", []) == "there is none."
