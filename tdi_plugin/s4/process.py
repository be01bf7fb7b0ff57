"""Is this process a run of state-spaces/s4? Answered from what is loaded, without importing anything."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

REGISTRY = "src.utils.registry"
_TABLES = ("layer", "model", "callbacks", "optimizer")


def registry_module() -> ModuleType | None:
    """s4's ``src.utils.registry`` if it is loaded and has s4's shape, else None.

    A project of another kind may well have a module of that name: s4's holds plain dicts of dotted paths,
    and its ``layer`` table knows "s4".
    """
    module = sys.modules.get(REGISTRY)
    if module is None:
        return None
    tables = [getattr(module, name, None) for name in _TABLES]
    if not all(isinstance(table, dict) for table in tables):
        return None
    return module if "s4" in module.layer else None


def is_s4_process() -> bool:
    """True where s4's own registry is loaded: its train.py, generate.py, or a script that imports ``src``."""
    return registry_module() is not None


def checkout_root() -> Path | None:
    """Folder of the s4 checkout that this process runs, or None outside one."""
    module = registry_module()
    file = getattr(module, "__file__", None)
    return Path(file).resolve().parents[2] if file else None
