"""Get a checkout of s4 at the commit that is known to work: one clone, checked, safe to repeat."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tdi_plugin.errors import HostError
from tdi_plugin.s4.paths import KNOWN_COMMIT, missing_files

_LEFT_OUT = ("/*", "!/notebooks/")
"""s4's notebooks are large, nothing needs them, and some mirrors leave them out."""


def set_up(source: str, into: Path, commit: str = KNOWN_COMMIT) -> str:
    """Clone ``source`` (a URL or a local repository) into ``into`` and check out ``commit``.

    A folder that already is that commit is left alone.

    Returns:
        What was done: "there already" or "cloned".

    Raises:
        HostError: git is missing, ``into`` is something else, or the clone lacks the commit or s4's files.
    """
    if shutil.which("git") is None:
        raise HostError("No git on this machine, which cloning s4 needs; install git and run this again.")
    if into.exists() and any(into.iterdir()):
        _check(into, commit)
        return "there already"
    local = Path(source).expanduser()
    origin = str(local.resolve()) if local.exists() else source
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent, prefix="s4-setup-") as folder:
        clone = Path(folder) / "s4"
        _git("clone", "--quiet", "--no-checkout", origin, str(clone), what=f"Cloning {source}")
        _git(
            "-C", str(clone), "sparse-checkout", "set", "--no-cone", *_LEFT_OUT, what="Leaving out notebooks"
        )
        what = f"Checking out {commit[:7]} (is {source} a full clone of state-spaces/s4?)"
        _git("-C", str(clone), "checkout", "--quiet", "--detach", commit, what=what)
        _check(clone, commit)
        if into.exists():
            into.rmdir()
        clone.rename(into)
    return "cloned"


def commit_of(root: Path) -> str | None:
    """The commit that a checkout stands at, or None if it is no git checkout of its own."""
    if not (root / ".git").exists():
        return None
    return _output("git", "-C", str(root), "rev-parse", "HEAD").strip() or None


def changed_files(root: Path) -> list[str]:
    """Paths that ``git status`` shows in a checkout, untracked ones included."""
    return [line[3:] for line in _output("git", "-C", str(root), "status", "--short").splitlines()]


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # no git here
        return ""
    return done.stdout if done.returncode == 0 else ""


def _check(root: Path, commit: str) -> None:
    found = commit_of(root)
    if found is None or not found.startswith(commit):
        at = f"is at commit {found[:7]}" if found else "is no git checkout"
        raise HostError(
            f"{root} {at}, expected state-spaces/s4 at {commit[:7]}. "
            "Remove the folder, or give another with --into."
        )
    absent = missing_files(root)
    if absent:
        raise HostError(f"{root} is at {commit[:7]} but has no {', '.join(absent)}: is it state-spaces/s4?")


def _git(*arguments: str, what: str) -> None:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise HostError(f"{what} failed: {done.stderr.strip() or f'git exited with {done.returncode}'}")
