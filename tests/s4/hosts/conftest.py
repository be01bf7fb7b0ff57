"""The kernels of a real checkout of s4, imported for these tests only."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest


def foreign() -> set[str]:
    """Modules of the checkout that are loaded: its top packages are src, models and extensions."""
    return {name for name in sys.modules if name.split(".")[0] in ("src", "models", "extensions")}


@pytest.fixture(scope="package")
def s4(s4_root: Path) -> Iterator[SimpleNamespace]:
    """``ssm`` (registry), ``fftconv``, ``file`` (models/s4/s4.py) and ``s4d``, with init=tdi known."""
    before = foreign()
    sys.path.insert(0, str(s4_root))
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = {
                "ssm": "src.models.sequence.kernels.ssm",
                "fftconv": "src.models.sequence.kernels.fftconv",
                "dplr": "src.models.sequence.kernels.dplr",
                "kernels": "src.models.sequence.kernels",
                "file": "models.s4.s4",
                "s4d": "models.s4.s4d",
            }
            modules = SimpleNamespace(**{key: import_module(path) for key, path in names.items()})
        for module in (modules.dplr, modules.file):
            module.combinations.setdefault("tdi", ["diag-lin"])
        yield modules
    finally:
        logging.disable(logging.NOTSET)
        sys.path.remove(str(s4_root))
        for name in foreign() - before:
            del sys.modules[name]
