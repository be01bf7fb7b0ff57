"""Where a checkout of s4 is: a folder that was given, ``$S4_ROOT``, or the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from tdi_plugin.errors import HostError

KNOWN_COMMIT = "e757cef57d89e448c413de7325ed5601aceaac13"
"""The commit of state-spaces/s4 (v4) that this package is tested against."""

REQUIRED = (
    "train.py",
    "configs/config.yaml",
    "src/utils/registry.py",
    "src/dataloaders/base.py",
    "src/models/sequence/kernels/dplr.py",
    "src/models/sequence/kernels/ssm.py",
)


def user_cache() -> Path:
    """The folder of this package in the user's cache."""
    return user_cache_path("tdi-plugin")


def default_checkout() -> Path:
    """``$S4_ROOT`` if set, else ``s4`` in the user's cache folder; it need not exist."""
    root = os.environ.get("S4_ROOT")
    return Path(root).expanduser() if root else user_cache() / "s4"


def missing_files(root: Path) -> list[str]:
    """The files of s4 that this package relies on and ``root`` does not have."""
    return [name for name in REQUIRED if not (root / name).is_file()]


def checkout(path: str | Path | None = None) -> Path:
    """Resolve and check a checkout of s4.

    Args:
        path: its folder; None means `default_checkout`.

    Raises:
        HostError: if the folder does not exist or is not s4 v4.
    """
    root = Path(path).expanduser() if path is not None else default_checkout()
    if not root.is_dir():
        raise HostError(
            f"No folder at {root}; expected a checkout of state-spaces/s4. "
            "Give its path, set S4_ROOT, or run scripts/setup_s4.py URL_OR_PATH."
        )
    absent = missing_files(root)
    if absent:
        kind = "an older or changed s4" if (root / "train.py").is_file() else "no checkout of s4"
        raise HostError(
            f"{root} is {kind}: it has no {', '.join(absent)}. "
            f"Expected state-spaces/s4 v4; commit {KNOWN_COMMIT[:7]} is known to work."
        )
    return root.resolve()
