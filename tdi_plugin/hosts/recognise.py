"""Recognising classes of other packages by name, without importing them."""

from __future__ import annotations

from torch import nn


def base_module(module: nn.Module, class_name: str, place: str = "") -> str | None:
    """Dotted path of the module that defines the base class of this name; None if there is none.

    Args:
        module: the instance.
        class_name: name of the class or of one of its bases.
        place: package that the path must start with; any by default.
    """
    for base in type(module).__mro__:
        if base.__name__ == class_name and f"{base.__module__}.".startswith(f"{place}." if place else ""):
            return base.__module__
    return None
