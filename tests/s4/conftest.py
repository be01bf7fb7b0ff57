"""A real checkout of s4, small data in the formats of its loaders, and runs of its train.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tdi_plugin.s4.paths import default_checkout, missing_files
from tdi_plugin.s4.setup import changed_files

HERE = Path(__file__).parent
Run = Callable[..., list[dict[str, Any]]]

TINY = (
    "wandb=null",
    "trainer.accelerator=cpu",
    "trainer.max_epochs=1",
    "trainer.limit_train_batches=2",
    "trainer.limit_val_batches=1",
    "loader.num_workers=0",
    "model.d_model=8",
    "model.n_layers=2",
    "~callbacks.rich_progress_bar",
)
"""Two steps of a small model on the CPU; every key is in s4's config."""


@pytest.fixture(scope="session")
def s4_root() -> Iterator[Path]:
    """The checkout; tests that need it skip where there is none, and none of them may change it."""
    root = default_checkout()
    if not root.is_dir():
        pytest.skip(f"no checkout of state-spaces/s4 at {root}: run scripts/setup_s4.py URL_OR_PATH")
    if absent := missing_files(root):
        pytest.fail(f"{root} is no s4 v4: it lacks {absent}")
    before = changed_files(root)
    yield root
    assert changed_files(root) == before


@pytest.fixture(scope="session")
def s4_python(s4_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run a Python file with arguments, as a process that may become an s4 one; gives what it printed."""

    def run(*args: str | Path, check: bool = True, cwd: Path | None = None, **env: str) -> Any:
        done = subprocess.run(
            [sys.executable, *map(str, args)],
            cwd=cwd or tmp_path_factory.mktemp("s4run"),
            capture_output=True,
            text=True,
            timeout=600,
            env={
                **os.environ,
                "S4_ROOT": str(s4_root),
                "OMP_NUM_THREADS": "1",
                "HF_HUB_OFFLINE": "1",
                "WANDB_MODE": "offline",
                **env,
            },
        )
        if not check:
            return done
        if done.returncode:
            pytest.fail(f"{args} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done.stdout

    return run


@pytest.fixture(scope="session")
def s4_data(s4_python: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A $DATA_PATH with small made-up files in the formats of s4's own loaders and of ours."""
    folder = tmp_path_factory.mktemp("data_of_s4")
    s4_python(HERE.parent / "small_data.py", "s4", folder)
    return folder


@pytest.fixture(scope="session")
def run_jobs(s4_root: Path, s4_python: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run several jobs of s4's train.py in one process; gives what the driver saw of each."""

    def run(*jobs: list[str], peaks: bool = False, **env: str) -> list[dict[str, Any]]:
        folder = tmp_path_factory.mktemp("jobs")
        listed = [{"overrides": list(overrides), "peaks": peaks} for overrides in jobs]
        (folder / "jobs.json").write_text(json.dumps(listed))
        s4_python(HERE / "driver.py", s4_root, "jobs.json", folder / "out.json", cwd=folder, **env)
        results: list[dict[str, Any]] = json.loads((folder / "out.json").read_text())
        return results

    return run


@pytest.fixture(scope="session")
def tiny() -> tuple[str, ...]:
    """Overrides that make a run of s4 small."""
    return TINY
