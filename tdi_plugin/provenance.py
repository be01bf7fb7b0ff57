"""Where a number came from: packages, machine, data and the host's commit, as plain values."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

PACKAGES = ("tdi-plugin", "torch", "pytorch-lightning", "hydra-core", "numpy", "scipy", "opt_einsum")


def environment() -> dict[str, Any]:
    """Versions of the packages that numbers depend on, and the machine."""
    return {
        "packages": {package: version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": processor(),
        "threads": torch.get_num_threads(),
    }


def version(package: str) -> str:
    """The installed version of a distribution, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """The CPU's name where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def run_provenance(dataset: Any) -> dict[str, Any]:
    """Of a training run: the environment, the data set's own account of itself, and s4's commit under s4."""
    from tdi_plugin.s4.process import checkout_root
    from tdi_plugin.s4.setup import commit_of

    root = checkout_root()
    # Under s4 our data sets stand behind s4's own class; s4's data sets have no account to give.
    tell = getattr(getattr(dataset, "source", dataset), "provenance", None)
    return {
        **environment(),
        "data": tell() if callable(tell) else None,
        "s4_commit": None if root is None else commit_of(root),
    }
