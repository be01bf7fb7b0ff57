"""Call a function when a module is imported: at once if it is loaded, else after its own code."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

Hook = Callable[[ModuleType], None]


def when_imported(name: str, hook: Hook) -> None:
    """Run ``hook(module)`` once for the module ``name``, now or when the program imports it.

    The module comes from whoever would have provided it; only its loader's last step is followed by the hook.
    A hook given twice for a module runs once.
    """
    loaded = sys.modules.get(name)
    if loaded is not None and not _being_imported(loaded):
        hook(loaded)
        return
    hooks = _waiting().hooks.setdefault(name, [])
    if hook not in hooks:
        hooks.append(hook)


def _being_imported(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _waiting() -> _Watch:
    for finder in sys.meta_path:
        if isinstance(finder, _Watch):
            return finder
    finder = _Watch()
    sys.meta_path.insert(0, finder)
    return finder


class _Watch(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.hooks: dict[str, list[Hook]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        hooks = self.hooks.get(fullname)
        if not hooks:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Followed(spec.loader, self.hooks.pop(fullname))
                return spec
        return None


class _Followed(importlib.abc.Loader):
    """The real loader, with the hooks after it; every other attribute is the real loader's."""

    def __init__(self, loader: importlib.abc.Loader, hooks: list[Hook]) -> None:
        self._loader = loader
        self._hooks = hooks

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        for hook in self._hooks:
            hook(module)
