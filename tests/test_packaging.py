"""The configs are found from a wheel, an editable installation and a plain checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WHERE = "import tdi_plugin; print(tdi_plugin.__file__); print(tdi_plugin.config_dir())"
COMPOSE = """
import sys
from tdi_plugin.cli import main
sys.exit(main(["train", "experiment=tdi/ucr/ecg5000", "--cfg", "job"]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
    ]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_wheel_holds_what_the_checkout_does(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for config in (ROOT / "configs").rglob("*.yaml"):
        assert f"tdi_plugin/configs/{config.relative_to(ROOT / 'configs')}" in names
    assert {"hydra_plugins/tdi_plugin/searchpath.py", "tdi_plugin/py.typed"} <= names
    assert "hydra_plugins/__init__.py" not in names
    assert not any(name.startswith(("tests/", "scripts/", "benchmarks/", "configs/")) for name in names)


def test_wheel_finds_its_own_configs(wheel, run_python, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    # Ahead of the editable installation, as site-packages of a plain environment would be.
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    package, configs = run_python("-c", WHERE, **environment).stdout.split()
    assert Path(package).parent == tmp_path / "site" / "tdi_plugin"
    assert Path(configs) == tmp_path / "site" / "tdi_plugin" / "configs"
    assert "name: ECG5000" in run_python("-c", COMPOSE, **environment).stdout


def test_checkout_without_installation_finds_its_configs(run_python):
    # -S hides site-packages, so only the checkout can provide the package.
    package, configs = run_python("-S", "-c", WHERE, PYTHONPATH=str(ROOT)).stdout.split()
    assert Path(package).parent == ROOT / "tdi_plugin"
    assert Path(configs) == ROOT / "configs"


def test_editable_installation_finds_its_configs(run_python):
    assert Path(run_python("-c", WHERE).stdout.split()[1]) == ROOT / "configs"
    assert "name: ECG5000" in run_python("-c", COMPOSE).stdout
