"""Setting up a checkout: cloned once, checked every time, never over something else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tdi_plugin.errors import HostError
from tdi_plugin.s4.paths import REQUIRED, checkout, default_checkout, user_cache
from tdi_plugin.s4.setup import changed_files, commit_of, set_up

SCRIPT = Path(__file__).parents[2] / "scripts" / "setup_s4.py"


def git(folder: Path, *arguments: str) -> str:
    options = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *options, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def source(tmp_path) -> tuple[Path, str]:
    """A repository with s4's files and a notebook; and its first commit."""
    folder = tmp_path / "source"
    for name in (*REQUIRED, "notebooks/large.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    git(folder.parent, "init", "-q", "source")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    first = git(folder, "rev-parse", "HEAD")
    (folder / "train.py").write_text("later")
    git(folder, "commit", "-qam", "two")
    return folder, first


def test_clones_at_the_commit_without_notebooks_and_again_is_fine(source, tmp_path):
    folder, first = source
    into = tmp_path / "cache" / "s4"
    assert set_up(str(folder), into, first) == "cloned"
    assert commit_of(into) == first
    assert (into / "train.py").read_text() == "train.py"
    assert not (into / "notebooks").exists()
    assert changed_files(into) == []
    assert set_up("nowhere", into, first) == "there already"
    assert [path.name for path in into.parent.iterdir()] == ["s4"]


def test_says_what_stands_in_the_way(source, tmp_path):
    folder, first = source
    into = tmp_path / "s4"
    into.mkdir()
    (into / "mine.txt").write_text("mine")
    with pytest.raises(HostError, match=r"is no git checkout.*--into"):
        set_up(str(folder), into, first)
    assert (into / "mine.txt").read_text() == "mine"
    with pytest.raises(HostError, match=r"Cloning .*missing.* failed"):
        set_up(str(tmp_path / "missing"), tmp_path / "new", first)
    with pytest.raises(HostError, match=r"Checking out 1234567 .*full clone"):
        set_up(str(folder), tmp_path / "new", "1234567" + "0" * 33)
    assert not (tmp_path / "new").exists()


def test_refuses_a_repository_that_is_not_s4(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(tmp_path, "init", "-q", "other")
    (other / "a.txt").write_text("a")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "one")
    with pytest.raises(HostError, match=r"has no train\.py.*is it state-spaces/s4"):
        set_up(str(other), tmp_path / "new", git(other, "rev-parse", "HEAD"))


def test_no_git(source, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"No git"):
        set_up(str(source[0]), tmp_path / "new")


def test_script(source, tmp_path, run_python):
    folder, first = source
    into = str(tmp_path / "s4")
    assert "(cloned)" in run_python(str(SCRIPT), str(folder), "--into", into, "--commit", first).stdout
    again = run_python(str(SCRIPT), str(folder), "--into", into, check=False)
    assert again.returncode == 1
    assert "expected state-spaces/s4 at e757cef" in again.stderr


def test_where_a_checkout_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("S4_ROOT", str(tmp_path / "here"))
    assert default_checkout() == tmp_path / "here"
    with pytest.raises(HostError, match=r"No folder at .*here; .*setup_s4"):
        checkout()
    monkeypatch.delenv("S4_ROOT")
    assert default_checkout() == user_cache() / "s4"
    (tmp_path / "train.py").touch()
    with pytest.raises(HostError, match=r"older or changed s4: it has no configs/config.yaml"):
        checkout(tmp_path)


def test_user_cache_without_platformdirs_is_the_same(monkeypatch):
    import sys

    pytest.importorskip("platformdirs")
    expected = user_cache()
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert user_cache() == expected
