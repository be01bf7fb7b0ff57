"""Decide which packages need a stand-in, and answer their imports."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

PROVIDED = {"torchaudio": "audio", "torchtext": "text", "torchvision": "vision"}
"""Package that s4 imports -> module of this folder that stands in for it."""

_PROBING = ("torchmetrics", "pytorch_lightning", "datasets", "transformers.utils")
"""Packages that look around for the ones above when they are imported: they go first, and see the truth."""


def install(names: Sequence[str] = tuple(PROVIDED)) -> list[str]:
    """Provide stand-ins for those of ``names`` that do not import; returns the ones that needed it."""
    for name in _PROBING:
        _imports(name)
    _remember_availability()
    absent = [name for name in names if name not in provided() and not _imports(name)]
    if absent:
        _finder().names.update(absent)
    return absent


def provided() -> list[str]:
    """The packages that are stand-ins in this process."""
    return sorted(_finder().names) if any(isinstance(f, _Finder) for f in sys.meta_path) else []


def why_not(name: str) -> str | None:
    """What importing the real package raises, in one line, or None if it imports."""
    try:
        importlib.import_module(name)
    except Exception as error:
        for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
            del sys.modules[loaded]
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    return None


def _imports(name: str) -> bool:
    return why_not(name) is None


def _remember_availability() -> None:
    """transformers asks once, on first need, whether these are there: let it ask now."""
    utils = sys.modules.get("transformers.utils")
    for name in PROVIDED:
        ask = getattr(utils, f"is_{name}_available", None)
        if callable(ask):
            ask()


def _finder() -> _Finder:
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            return finder
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return finder


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if top not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(top, rest), is_package=True)


class _Loader(importlib.abc.Loader):
    """Fills ``torchvision.transforms`` from the attribute ``transforms`` of our module, and so on down."""

    def __init__(self, top: str, rest: str) -> None:
        self.top, self.rest = top, rest

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        source: object = importlib.import_module(f"tdi_plugin.s4.standins.{PROVIDED[self.top]}")
        for part in filter(None, self.rest.split(".")):
            source = getattr(source, part, None)
            if not isinstance(source, (type, ModuleType)):
                raise ModuleNotFoundError(_absent(self.top, name), name=name)
        module.__dict__.update({k: getattr(source, k) for k in vars(source) if not k.startswith("_")})
        module.__dict__["__version__"] = "0"

        def absent(attribute: str) -> object:
            raise AttributeError(_absent(self.top, f"{name}.{attribute}"))

        module.__dict__["__getattr__"] = absent


def _absent(top: str, wanted: str) -> str:
    return f"{wanted} is not in the stand-in for {top}, which does not import here; install {top} to use it."
