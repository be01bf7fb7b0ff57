"""tdi s4 patch: applies, checks, reverses; refuses what it does not know; git reads the same diffs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tdi_plugin.errors import HostError
from tdi_plugin.s4.cli import main
from tdi_plugin.s4.patch import apply, patches, states
from tdi_plugin.s4.setup import set_up

pytestmark = pytest.mark.s4
DIFFS = sorted((Path(__file__).parents[2] / "patches").glob("*.diff"))


@pytest.fixture(scope="module")
def clone(s4_root, tmp_path_factory) -> Path:
    into = tmp_path_factory.mktemp("clone") / "s4"
    set_up(str(s4_root), into)
    return into


@pytest.fixture
def copy(clone, tmp_path) -> Path:
    return Path(shutil.copytree(clone, tmp_path / "s4"))


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_applies_checks_and_reverses(copy, capsys):
    assert main(["patch", str(copy), "--check"]) == 1
    assert main(["patch", str(copy)]) == 0
    assert set(states(copy).values()) == {"patched"}
    assert main(["patch", str(copy), "--check"]) == 0
    assert apply(copy) == []
    changed = [
        line
        for line in git(copy, "diff", "-U0").splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    assert changed
    assert all(line.startswith("+") for line in changed)
    assert main(["patch", str(copy), "--reverse"]) == 0
    assert git(copy, "status", "--short") == ""
    assert apply(copy, reverse=True) == []


def test_git_applies_the_same_diffs(copy):
    assert len(DIFFS) == len(patches())
    for diff in DIFFS:
        git(copy, "apply", "--unidiff-zero", str(diff))
    assert set(states(copy).values()) == {"patched"}


def test_diffs_hold_no_line_of_s4():
    for diff in DIFFS:
        body = [
            line
            for line in diff.read_text().splitlines()
            if not line.startswith(("diff ", "--- ", "+++ ", "@@ "))
        ]
        assert body
        assert all(line.startswith("+") for line in body)


def test_unknown_file_is_refused_and_nothing_written(copy):
    file = copy / "train.py"
    file.write_text(file.read_text() + "\n# changed\n")
    before = git(copy, "status", "--short")
    with pytest.raises(HostError, match=r"train.py \(unknown\).*nothing|nothing was written: train.py"):
        apply(copy)
    assert git(copy, "status", "--short") == before


def test_patched_source_places_poles_without_the_entry_point(copy, s4_python, data_path):
    apply(copy)
    code = """
import importlib.metadata, sys
found = importlib.metadata.entry_points
def entry_points(**wanted):
    return [] if "callbacks_factory" in wanted.get("group", "") else found(**wanted)
importlib.metadata.entry_points = entry_points
from tdi_plugin.s4 import launch
import tdi_plugin.s4.register as register
launch.run(sys.argv[1], sys.argv[2:])
"""
    printed = s4_python(
        "-c",
        code,
        copy,
        "experiment=tdi/ucr/gunpoint",
        "+trainer.fast_dev_run=true",
        "trainer.accelerator=cpu",
        "model.d_model=4",
        f"dataset.data_dir={data_path}",
    )
    assert "TDI placed the poles" in printed
    assert printed.count("TDI placed the poles") == 1
