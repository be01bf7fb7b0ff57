from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from tdi_plugin.cli import main
from tdi_plugin.sweep import cli
from tdi_plugin.sweep.arguments import read_values
from tdi_plugin.sweep.launch import command, launch
from tdi_plugin.sweep.runner import run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

SWEEP = ["sweep", "study=smoke", "store=s"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *(([*SWEEP, f"threads={value}"], "at least 1") for value in ("0", "-1", "abc", "null", "1.5")),
        *(([*SWEEP, "launcher=joblib", f"workers={value}"], "at least 1") for value in ("0", "abc")),
        ([*SWEEP, "workers=4"], "workers is a launcher's; add launcher=joblib"),
        ([*SWEEP, "hydra.launcher.partition=gpu"], "is a launcher's"),
        ([*SWEEP, "launcher=5"], "Unknown launcher '5'"),
        (["table", "s", "low=abc"], "low='abc'"),
        (["table", "s", "high=.nan"], "high=nan"),
        (["table", "s", "low=0.9"], "low=0.9 and high=0.64"),
        (["table", "s", "plots=maybe"], "expected true or false"),
        (["sweep", "study=smoke"], "needs study=NAME and store=DIR"),
        (["sweep", "study=smoke", "store=s", "arms=[lin,td]"], "did you mean 'tdi'"),
        (["sweep", "study=smoke", "store=s", "ratios=[2]"], "outside (0, 1]"),
        (["table"], "needs one store folder"),
        (["table", "nowhere"], "No store"),
        (["table", "nowhere", "hihg=1"], "Unknown setting"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_change_nothing(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_names_and_paths_are_taken_as_typed() -> None:
    words = ["name=2024_01", "store=010", "study=yes", "output=1e3", "epochs=010", "launcher=null"]
    assert read_values(words) == {
        "name": "2024_01", "store": "010", "study": "yes", "output": "1e3", "epochs": 8, "launcher": None,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["a b, c", "it's", "2024", "[x]", "null", "back\\", "ünï", "a=b"])
def test_any_name_comes_through_hydras_grammar(name: str) -> None:
    words = [w for w in command("joblib", 2, name, Path("/x y") / name) if w.startswith(("study=", "store="))]
    study, store = map(OverridesParser.create().parse_override, words)
    assert (study.value(), store.value()) == (name, f"/x y/{name}")
    assert not study.is_sweep_override()
    assert not store.is_sweep_override()


def test_further_hydra_settings_keep_their_kind() -> None:
    options = {"hydra.launcher.partition": "a,b", "hydra.launcher.gres": None, "hydra.launcher.nodes": 2}
    assert list(command("submitit_slurm", 2, "n", Path("/s"), options))[-3:] == [
        "hydra.launcher.partition='a,b'", "hydra.launcher.gres=null", "hydra.launcher.nodes=2",
    ]  # fmt: skip


def test_workers_that_fail_leave_a_sentence_and_a_status(
    tiny: Callable[..., Study],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if importlib.util.find_spec("hydra_plugins.hydra_joblib_launcher") is None:
        pytest.skip("hydra_joblib_launcher is not installed; pip install 'tdi-plugin[launchers]'")
    folder = tmp_path / "UCRArchive_2018" / "Flat"
    folder.mkdir(parents=True)
    for part in ("TRAIN", "TEST"):
        (folder / f"Flat_{part}.tsv").write_text("1\t1\t1\t1\n2\t1\t1\t1\n" * 4)
    study = tiny(name="it's, 1", datasets=["Flat"], ratios=[0.5])
    monkeypatch.setenv("DATA_PATH", str(tmp_path))
    assert launch("joblib", 1, study, tmp_path / "s t") == 1
    said = capfd.readouterr().err
    assert "worker 0: Flat 50 % one-power: All series are constant" in said
    assert "not finished: Flat 50 % one-power" in said
    assert "Traceback" not in said


@pytest.fixture
def store(tiny: Callable[..., Study], tmp_path: Path) -> Path:
    store = Store(tmp_path / "s")
    for name, epochs in (("v1.0", 1), ("v1.1", 2)):
        study = tiny(name=name, datasets=["Tiny"], ratios=[0.5], epochs=epochs, arms=["lin"])
        run_study(study, store)
    return tmp_path / "s"


def test_studies_with_a_dot_in_their_names_have_files_of_their_own(store: Path) -> None:
    assert main(["table", str(store), "plots=false"]) == 0
    for name in ("v1.0", "v1.1"):
        assert (store / "tables" / f"{name}.md").read_text().startswith(f"# {name}\n")
        assert (store / "tables" / f"{name}.csv").is_file()
        assert (store / "tables" / f"{name}.json").is_file()


def test_a_study_of_the_baseline_alone_has_plots(store: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["table", str(store), "study=v1.0"]) == 0
    kinds = {path.stem.rpartition("-")[2] for path in (store / "tables").glob("*.png")}
    assert kinds == {"accuracy", "curves"}


def test_without_matplotlib_there_are_tables_and_a_hint(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    assert main(["table", str(store)]) == 0
    assert "they need matplotlib" in capsys.readouterr().out
    assert (store / "tables" / "v1.0.md").is_file()
    assert not list((store / "tables").glob("*.png"))


def test_tables_that_cannot_be_written_are_named(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (store.parent / "file").write_text("x")
    assert main(["table", str(store), f"output={store.parent / 'file'}", "plots=false"]) == 2
    assert "give another one with output=DIR" in capsys.readouterr().err
    (store.parent / "out" / "v1.0.csv").mkdir(parents=True)
    assert main(["table", str(store), f"output={store.parent / 'out'}", "plots=false"]) == 2
    assert "v1.0.csv cannot be written" in capsys.readouterr().err


def test_an_arm_that_is_gone_from_the_package_goes_by_its_name(store: Path) -> None:
    path = store / "studies" / "v1.0.json"
    noted = json.loads(path.read_text())
    noted["settings"]["arms"].append("of-old")
    path.write_text(json.dumps(noted))
    assert main(["table", str(store), "study=v1.0", "plots=false"]) == 0
