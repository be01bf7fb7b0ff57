from __future__ import annotations

import os
from pathlib import Path

import pytest
from hydra.errors import ConfigCompositionException

from tdi_plugin.cli import main
from tdi_plugin.errors import OptionError
from tdi_plugin.hydra_errors import FULL_ERROR, readable_hydra_errors

GUNPOINT = "experiment=tdi/ucr/gunpoint"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["experiment=tdi/ucr/gunpint"], "No experiment 'tdi/ucr/gunpint': did you mean 'tdi/ucr/gunpoint'?"),
        (["experiment=tdi/ucr/base"], "ucr.name has no value yet: add ucr.name=VALUE."),
        ([GUNPOINT, "model/layer=s4d_tid"], "No model/layer 's4d_tid': did you mean 's4d_tdi'?"),
        ([GUNPOINT, "trainer=fast"], "No trainer 'fast': Known: default."),
        ([GUNPOINT, "trainer=[default,fast]"], "In 'pipeline/tdi_series': Could not load 'trainer/fast'."),
        ([GUNPOINT, "dataset.data_dir=/${x}"], "dataset.data_dir: Interpolation key 'x' not found: no such"),
        ([GUNPOINT, "dataset.data_dir=${oc.env:NO_SUCH}"], "dataset.data_dir: "),
        ([GUNPOINT, "modle.layer.init=tdi"], "Could not override 'modle.layer.init'."),
        (
            [GUNPOINT, "hydra.job.num=abc"],
            "Error merging override hydra.job.num=abc: hydra.job.num: Value 'abc'",
        ),
        (["--config-name", "nonesuch"], "Cannot find primary config 'nonesuch'."),
        (["experiment"], "Error parsing override 'experiment'"),
    ],
)
def test_hydras_error_becomes_one_line_of_ours(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    overrides: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FULL_ERROR, raising=False)
    assert main(["train", *overrides]) == 2
    (line,) = [
        line for line in capsys.readouterr().err.splitlines() if not line.startswith("Error executing")
    ]
    assert line.startswith(f"tdi train: {message}")
    assert FULL_ERROR not in os.environ


def test_experiments_of_a_folder_of_ones_own_are_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my configs" / "experiment" / "own").mkdir(parents=True)
    (tmp_path / "my configs" / "experiment" / "own" / "mine.yaml").write_text("a: 1")
    words = ["--config-dir", "my configs", "experiment=own/mien"]
    assert main(["train", *words]) == 2
    assert (
        "No experiment 'own/mien': did you mean 'own/mine'? Known: own/mine, tdi/" in capsys.readouterr().err
    )
    (tmp_path / "my configs" / "experiment" / "own" / "mine.yaml").write_text("a: [1")
    assert main(["train", *words[:2], "experiment=own/mine"]) == 2
    assert "mine.yaml" in capsys.readouterr().err


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
        "dataset.name=GunPont,Plain",
    ]
    assert main(["train", *words]) == 2
    assert "UCR set 'GunPont' was not found: did you mean 'GunPoint'?" in capsys.readouterr().err


@pytest.mark.parametrize(("before", "kind"), [("0", OptionError), ("1", ConfigCompositionException)])
def test_what_the_user_set_counts_and_stays(
    monkeypatch: pytest.MonkeyPatch, before: str, kind: type[Exception]
) -> None:
    monkeypatch.setenv(FULL_ERROR, before)
    with pytest.raises(kind, match="words"), readable_hydra_errors():
        raise ConfigCompositionException("words")
    assert os.environ[FULL_ERROR] == before
