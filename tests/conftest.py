"""Shared fixtures: the data folder, and running Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data_path() -> Path:
    """Folder with UCRArchive_2018, MNIST, ...: $DATA_PATH, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("DATA_PATH", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set DATA_PATH to one")
    return folder


@pytest.fixture(scope="session")
def run_python(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code or a file in a fresh interpreter, outside the checkout; fail with its output."""

    def run(
        *args: str, check: bool = True, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *args],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=cwd or tmp_path_factory.mktemp("run"),
            env={**os.environ, **env},
        )
        if check and done.returncode != 0:
            pytest.fail(f"{args} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run
