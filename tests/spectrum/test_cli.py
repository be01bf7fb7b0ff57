"""`tdi spectrum`: a table, a picture and a file, from data of several kinds and from experiments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tdi_plugin.cli import main
from tdi_plugin.data import nested_subset
from tdi_plugin.errors import OptionError
from tdi_plugin.spectrum import TaskSpectrum, task_spectrum
from tdi_plugin.spectrum_run import composed

Make = Callable[..., tuple[np.ndarray, np.ndarray]]


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def npz(make_series: Make, tmp_path: Path) -> Path:
    x, y = make_series(rows=60, length=100, classes=2)
    np.savez(tmp_path / "waves.npz", x=x, y=y)
    return tmp_path / "waves.npz"


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("wide")
def test_a_file_gives_a_table_a_picture_and_a_spectrum(
    npz: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "waves.npz"
    arguments = ["--data", str(npz), "--sample-rate", "200", "--output", str(out), "--permutations", "99"]
    assert main(["spectrum", *arguments]) == 0
    text = printed(capsys)
    assert "0.3000 │ 3.3 │ 60 │" in text
    assert "combined spectrum of 60 series of 100 samples" in text
    assert "stand out against shuffled labels" in text
    assert f"tdi.spectrum_file={out}" in text
    loaded = TaskSpectrum.load(out)
    with np.load(npz) as stored:
        expected = task_spectrum(stored["x"].astype(np.float32), stored["y"], permutations=99)
    assert torch.equal(loaded.power, expected.power)
    assert loaded.sample_rate == 200.0
    assert loaded.p_value == pytest.approx(0.01)
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.usefixtures("wide")
def test_labels_of_another_file_and_none_at_all(
    npz: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with np.load(npz) as stored:
        np.save(tmp_path / "x.npy", stored["x"])
        (tmp_path / "y.txt").write_text("\n".join("no" if label else "yes" for label in stored["y"]))
    data = ["spectrum", "--data", str(tmp_path / "x.npy"), "--peaks", "2"]
    assert main([*data, "--labels", str(tmp_path / "y.txt"), "--statistic", "cross"]) == 0
    assert "│ 1 │ 0.3000" in printed(capsys)
    assert main(data) == 0
    text = printed(capsys)
    assert "the data have no labels" in text
    assert "│ 1 │ 0.1000" in text
    assert main([*data, "--statistic", "fisher"]) == 2
    assert "give --labels FILE" in capsys.readouterr().err


@pytest.mark.usefixtures("wide")
def test_an_archive_file(data_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data_path / "UCRArchive_2018" / "GunPoint" / "GunPoint_TRAIN.tsv"
    assert main(["spectrum", "--data", str(file), "--permutations", "20"]) == 0
    assert "of 50 series of 150 samples" in printed(capsys)


@pytest.mark.usefixtures("wide")
def test_an_experiment_is_measured_on_its_training_subset(
    data_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_PATH", str(data_path))
    out = tmp_path / "gunpoint.npz"
    overrides = ["experiment=tdi/ucr/gunpoint", "tdi.train_ratio=0.5", f"output={out}", "--permutations", "9"]
    assert main(["spectrum", *overrides]) == 0
    assert "of 25 series of 150 samples" in printed(capsys)
    table = np.loadtxt(data_path / "UCRArchive_2018" / "GunPoint" / "GunPoint_TRAIN.tsv", dtype=np.float32)
    rows = nested_subset(table[:, 0].astype(int), 0.5, 0)
    expected = task_spectrum(table[rows, 1:], table[rows, 0].astype(int))
    loaded = TaskSpectrum.load(out)
    assert loaded.statistic == expected.statistic
    torch.testing.assert_close(loaded.density, expected.density, rtol=1e-3, atol=1e-6)


@pytest.mark.usefixtures("wide")
def test_layers_are_listed_and_saved_one_by_one(
    data_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_PATH", str(data_path))
    overrides = ["experiment=tdi/ucr/gunpoint", "tdi.source=layer", f"output={tmp_path}/l.npz"]
    assert main(["spectrum", *overrides, "--permutations", "0"]) == 0
    assert printed(capsys).count("32 channels") == 2
    assert len(list(tmp_path.glob("l-*.npz"))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either --data FILE or an experiment"),
        (["waves.tsv"], "--data waves.tsv"),
        (["experiment=tdi/ucr/nonesuch"], "No experiment 'tdi/ucr/nonesuch': did you mean"),
        (["train.seed=1"], "names no experiment"),
        (["--data", "missing.tsv"], "does not exist"),
    ],
)
def test_mistakes_are_answered_in_a_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spectrum", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["spectrum", "--help"])
    assert "tdi spectrum --data my_TRAIN.tsv" in capsys.readouterr().out


def test_overrides_that_do_not_resolve_are_option_errors() -> None:
    with pytest.raises(OptionError, match=r"ucr\.name has no value yet"):
        composed(["experiment=tdi/ucr/base"])
