"""Several workers on one store, started by a Hydra launcher: processes here, or jobs on a cluster."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.sweep.runner import plan
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

PLUGINS = {
    "joblib": "hydra_joblib_launcher",
    "submitit_local": "hydra_submitit_launcher",
    "submitit_slurm": "hydra_submitit_launcher",
    "ray": "hydra_ray_launcher",
}


def launch(
    launcher: str, workers: int, study: Study, folder: Path, options: Mapping[str, Any] | None = None
) -> int:
    """Start the workers, wait for them, and return the exit status.

    Args:
        launcher: a key of ``PLUGINS``.
        workers: how many.
        study: noted in the store, from where the workers read it.
        folder: the store, on a disk that all workers see.
        options: further Hydra settings, such as ``hydra.launcher.partition``.

    Raises:
        OptionError: an unknown launcher, or one whose plugin is not installed.
    """
    if launcher not in PLUGINS:
        raise OptionError(f"Unknown launcher {launcher!r}: {choices(launcher, PLUGINS)}")
    if importlib.util.find_spec(f"hydra_plugins.{PLUGINS[launcher]}") is None:
        package = PLUGINS[launcher].replace("_", "-")
        raise OptionError(
            f"launcher={launcher} needs the package {package}: pip install 'tdi-plugin[launchers]'"
        )
    plan(study, Store(folder))
    return subprocess.run(command(launcher, workers, study.name, folder, options)).returncode


def command(
    launcher: str, workers: int, study: str, folder: Path, options: Mapping[str, Any] | None = None
) -> Sequence[str]:
    """The command line that starts the workers."""
    more = dict(options or {})
    if launcher == "joblib":
        more.setdefault("hydra.launcher.n_jobs", workers)
    return [
        sys.executable, "-m", "tdi_plugin.sweep.app", "-m", f"hydra/launcher={launcher}", f"study={study}",
        f"store={folder.resolve()}", f"worker=range({workers})", *(f"{k}={v}" for k, v in more.items()),
    ]  # fmt: skip
