from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tdi_plugin.cli import main
from tdi_plugin.errors import OptionError
from tdi_plugin.sweep.launch import launch
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study


@pytest.fixture
def study_file(tiny: Callable[..., Study], tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(
        yaml.safe_dump({k: list(v) if isinstance(v, tuple) else v for k, v in tiny().as_dict().items()})
    )
    return path


def test_sweep_then_table(study_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "s"
    assert main(["sweep", f"study={study_file}", f"store={store}", "ratios=[0.5]", "seeds=1"]) == 0
    assert "2 groups run, 0 were there" in capsys.readouterr().out
    assert main(["sweep", f"study={study_file}", f"store={store}", "ratios=[0.5]", "seeds=1"]) == 0
    assert "0 groups run, 2 were there" in capsys.readouterr().out
    assert main(["table", str(store), "low=0.5", "plots=false"]) == 0
    shown = capsys.readouterr().out
    assert "TDI fisher" in shown
    assert (store / "tables" / "tiny.md").read_text() in shown


@pytest.mark.parametrize("command", ["sweep", "table"])
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"tdi {command} " in capsys.readouterr().out


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_launchers_share_one_store(tiny: Callable[..., Study], tmp_path: Path, launcher: str) -> None:
    plugin = {"joblib": "hydra_joblib_launcher", "submitit_local": "hydra_submitit_launcher"}[launcher]
    if importlib.util.find_spec(f"hydra_plugins.{plugin}") is None:
        pytest.skip(f"{plugin} is not installed; pip install 'tdi-plugin[launchers]'")
    assert launch(launcher, 2, tiny(), tmp_path) == 0
    assert len(Store(tmp_path).groups()) == 4


def test_launchers_that_are_not_there_are_named(
    tiny: Callable[..., Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OptionError, match="did you mean 'joblib'"):
        launch("jobli", 2, tiny(), tmp_path)
    monkeypatch.setitem(sys.modules, "hydra_plugins.hydra_ray_launcher", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match="hydra-ray-launcher"):
        launch("ray", 2, tiny(), tmp_path)
