"""The package's own S4D kernels, complex and real, recognised without importing them."""

from __future__ import annotations

from torch import Tensor, nn

from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.hosts.recognise import base_module

PLACE = "tdi_plugin.nn"


def builtin(name: str, module: nn.Module) -> CommonHost | None:
    """The adapter of ``tdi_plugin.nn.S4DKernel`` or its real form, or None for any other module."""
    if base_module(module, "RealS4DKernel", PLACE):
        return RealFormHost(name, module, "builtin real S4D")
    return CommonHost(name, module, "builtin S4D") if base_module(module, "S4DKernel", PLACE) else None


class RealFormHost(CommonHost):
    """2x2 blocks: C holds a block's two real output weights, (2 Re c, -2 Im c) of the pair's complex c."""

    @property
    def output(self) -> Tensor:
        return 0.5 * super().output.conj().resolve_conj()

    def _stored(self, output: Tensor) -> Tensor:
        return super()._stored(2 * output.conj())
