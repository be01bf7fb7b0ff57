"""state-spaces/s4, v4: the registry's diagonal kernel and the one of the standalone file models/s4/s4.py."""

from __future__ import annotations

from torch import nn

from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.hosts.recognise import base_module

REGISTRY = "src.models.sequence.kernels"


def kind_of(module: nn.Module, class_name: str) -> str | None:
    """ "s4 <class>" for the registry's, "s4.py <class>" for the standalone file's copies, None for others."""
    place = base_module(module, class_name)
    if place is None:
        return None
    return f"{'s4' if place.startswith(REGISTRY) else 's4.py'} {class_name}"


def s4_diagonal(name: str, module: nn.Module) -> CommonHost | None:
    """The adapter of SSMKernelDiag (S4D), or None for any other module."""
    kind = kind_of(module, "SSMKernelDiag")
    return CommonHost(name, module, kind) if kind else None
