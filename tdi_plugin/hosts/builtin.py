"""The package's own S4D kernel, recognised without importing it."""

from __future__ import annotations

from torch import nn

from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.hosts.recognise import base_module


def builtin(name: str, module: nn.Module) -> CommonHost | None:
    """The adapter of ``tdi_plugin.nn.S4DKernel``, or None for any other module."""
    own = base_module(module, "S4DKernel", "tdi_plugin.nn")
    return CommonHost(name, module, "builtin S4D") if own else None
