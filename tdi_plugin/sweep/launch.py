"""Several workers on one store, started by a Hydra launcher: processes here, or jobs on a cluster."""

from __future__ import annotations

import importlib.util
import re
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
    launcher: str,
    workers: int,
    study: Study,
    folder: Path,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
) -> int:
    """Start the workers, wait for them, say what is missing, and return the exit status.

    Args:
        launcher: a key of ``PLUGINS``.
        workers: how many.
        study: noted in the store, from where the workers read it.
        folder: the store, on a disk that all workers see.
        options: further Hydra settings, such as ``hydra.launcher.partition``.
        threads: that each worker computes on.

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
    store = Store(folder)
    groups = plan(study, store)
    status = subprocess.run(command(launcher, workers, study.name, folder, options, threads)).returncode
    if missing := [str(group) for key, group in groups.items() if store.load(key) is None]:
        print(f"{study.name}: not finished: {', '.join(missing)}.", file=sys.stderr)
        return status or 1
    print(f"{study.name}: all {len(groups)} groups are there. Tables: tdi table {folder}")
    return status


def command(
    launcher: str,
    workers: int,
    study: str,
    folder: Path,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
) -> Sequence[str]:
    """The command line that starts the workers."""
    more = dict(options or {})
    if launcher == "joblib":
        more.setdefault("hydra.launcher.n_jobs", workers)
    return [
        sys.executable, "-m", "tdi_plugin.sweep.app", "-m", f"hydra/launcher={launcher}",
        f"study={_quoted(study)}", f"store={_quoted(str(folder.resolve()))}", f"threads={threads}",
        f"worker=range({workers})", *(f"{k}={_quoted(v)}" for k, v in more.items()),
    ]  # fmt: skip


def _quoted(value: Any) -> str:
    """In Hydra's grammar, where blanks and commas of a plain text would mean something."""
    if value is None:
        return "null"
    if not isinstance(value, str):
        return str(value)
    return "'" + re.sub(r"(\\*)('|$)", lambda m: 2 * m[1] + ("\\'" if m[2] else ""), value) + "'"
