"""state-spaces/s4, v4: the registry's diagonal kernel and the one of the standalone file models/s4/s4.py."""

from __future__ import annotations

from torch import nn

from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.hosts.recognise import is_instance_of

REGISTRY = "src.models.sequence.kernels"
STANDALONE = ("s4.s4", "s4")


def place_of(module: nn.Module, class_name: str) -> str | None:
    """ "s4" for the registry's class, "s4.py" for the standalone file's, None for neither."""
    if is_instance_of(module, class_name, REGISTRY):
        return "s4"
    return "s4.py" if is_instance_of(module, class_name, *STANDALONE) else None


def s4_diagonal(name: str, module: nn.Module) -> CommonHost | None:
    """The adapter of SSMKernelDiag (S4D), or None for any other module."""
    place = place_of(module, "SSMKernelDiag")
    return CommonHost(name, module, f"{place} SSMKernelDiag") if place else None
