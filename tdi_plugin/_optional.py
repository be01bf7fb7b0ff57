"""Soft dependencies: one place that imports them, one message when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from tdi_plugin.errors import TDIError


class MissingDependency(TDIError, ImportError):
    """An optional package is needed for what was asked."""


def require(module: str, extra: str, for_: str) -> Any:
    """Import ``module``, or say which extra of this package installs it.

    Raises:
        MissingDependency: the module does not import.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependency(
            f"{for_} needs the package {package!r}, which does not import here ({error}). "
            f"Install it with: pip install 'tdi-plugin[{extra}]'"
        ) from error
