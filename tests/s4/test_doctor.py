"""The doctor tells a healthy environment from broken ones, and what to do."""

from __future__ import annotations

import json
import shutil
import textwrap
from pathlib import Path

import pytest

from tdi_plugin.s4.doctor import FAIL, NOTE, OK, examine

pytestmark = pytest.mark.s4

KEOPS_WITHOUT_GPU = """
class LazyTensor: ...
class Genred:
    def __init__(self, *args, **kwargs): ...
    def __call__(self, *args, **kwargs):
        raise KeyError("nvrtc")
"""


@pytest.fixture
def probe(s4_python, s4_root, tmp_path):
    """Run the doctor's own process, with packages put before the installed ones; gives name -> row."""

    def run(root: Path = s4_root, **packages: str) -> dict[str, dict[str, str]]:
        for name, source in packages.items():
            folder = tmp_path.joinpath("site", *name.split("__"))
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text(textwrap.dedent(source))
        printed = s4_python("-m", "tdi_plugin.s4.probe", root, PYTHONPATH=str(tmp_path / "site"))
        rows = json.loads(printed.splitlines()[-1])
        return {row["name"]: row for row in rows}

    return run


@pytest.fixture
def copied(s4_root, tmp_path) -> Path:
    """A copy of the checkout that a test may change."""
    return Path(
        shutil.copytree(s4_root, tmp_path / "s4", ignore=shutil.ignore_patterns(".git", "__pycache__"))
    )


def test_healthy_environment(s4_root):
    rows = examine(s4_root)
    assert [row for row in rows if row.status == FAIL] == []
    found = {row.name: row for row in rows}
    for name in ("checkout", "entry points", "init: tdi", "S4D kernel (mode=diag)", "S4 kernel (mode=nplr)"):
        assert found[name].status == OK, name


def test_broken_torchtext_and_pykeops_without_a_gpu(probe):
    rows = probe(
        torchtext="raise OSError('libtorchtext.so: undefined symbol')",
        pykeops="",
        pykeops__torch=KEOPS_WITHOUT_GPU,
    )
    # The first is stood in for, the second is in the way of every kernel that s4's configs ask for.
    assert rows["package torchtext"]["status"] == NOTE
    assert "undefined symbol" in rows["package torchtext"]["found"]
    assert "tdi s4 train" in rows["package torchtext"]["remedy"]
    assert rows["init: tdi"]["status"] == OK
    default = rows["kernels as s4's configs ask for them"]
    assert default["status"] == FAIL
    assert "nvrtc" in default["found"]
    assert "backend=naive" in default["remedy"]
    assert rows["backend naive"]["status"] == OK


def test_missing_package_that_s4_needs(probe):
    rows = probe(wandb="raise ImportError('no wandb here')")
    assert rows["package wandb"]["status"] == FAIL
    assert "tdi-plugin[s4]" in rows["package wandb"]["remedy"]


def test_renamed_attribute_is_named(probe, copied):
    file = copied / "src/models/sequence/kernels/ssm.py"
    file.write_text(file.read_text().replace("A_imag", "A_frequency"))
    rows = probe(copied)
    for mode in ("S4D kernel (mode=diag)", "S4 kernel (mode=nplr)"):
        assert rows[mode]["status"] == FAIL
        assert "A_imag" in rows[mode]["found"]
        assert "e757cef" in rows[mode]["remedy"]


def test_kernel_that_ignores_what_is_written(probe, copied):
    file = copied / "src/models/sequence/kernels/ssm.py"
    source = file.read_text()
    assert "K = log_vandermonde(C, dtA, L)" in source
    file.write_text(source.replace("K = log_vandermonde(C, dtA, L)", "K = log_vandermonde(C, 0.5*dtA, L)"))
    row = probe(copied)["S4D kernel (mode=diag)"]
    assert row["status"] == FAIL


@pytest.mark.parametrize("content", [{}, {"train.py": ""}])
def test_folder_that_is_no_s4_v4(tmp_path, content):
    for name, text in content.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    rows = examine(tmp_path)
    assert FAIL in {row.status for row in rows}


def test_report_and_its_exit_status(s4_root, tmp_path, monkeypatch, capsys):
    from tdi_plugin.s4 import doctor
    from tdi_plugin.s4.cli import main

    assert main(["doctor", str(tmp_path / "nowhere")]) == 1
    assert "No folder at" in " ".join(capsys.readouterr().out.split())
    rows = [doctor.Row("package wandb", FAIL, "[gone]", "pip install tdi-plugin[s4]")]
    monkeypatch.setattr(doctor, "of_behaviour", lambda root: rows)
    assert main(["doctor", str(s4_root)]) == 1
    shown = capsys.readouterr().out.replace(" ", "")
    assert "tdi-plugin[s4]" in shown.replace("│", "").replace("\n", "")
    assert "[gone]" in shown
    monkeypatch.setattr(doctor, "of_behaviour", lambda root: [doctor.Row("all", OK, "well")])
    assert main(["doctor", str(s4_root)]) == 0
    assert "work here" in capsys.readouterr().out
