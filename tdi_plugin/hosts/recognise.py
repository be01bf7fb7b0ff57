"""Recognising classes of other packages by name, without importing them."""

from __future__ import annotations

from torch import nn


def is_instance_of(module: nn.Module, class_name: str, *places: str) -> bool:
    """Whether a class of this name, from a module whose dotted path holds one of ``places``, is among the "
    "bases."""
    return any(
        base.__name__ == class_name and any(f".{place}." in f".{base.__module__}." for place in places)
        for base in type(module).__mro__
    )
