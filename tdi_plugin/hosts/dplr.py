"""s4's SSMKernelDPLR: bilinear whatever its ``disc``, and with a C that may already contain the poles."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.hosts.s4 import kind_of
from tdi_plugin.hosts.writing import parameter
from tdi_plugin.poles.expm1 import complex_expm1
from tdi_plugin.poles.placement import log_poles


def s4_low_rank(name: str, module: nn.Module) -> LowRankHost | None:
    """The adapter of SSMKernelDPLR (S4, mode nplr), or None for any other module."""
    kind = kind_of(module, "SSMKernelDPLR")
    return LowRankHost(name, module, kind) if kind else None


class LowRankHost(CommonHost):
    """A - P P^*; with P = 0, as ``init: tdi`` and ``diag-*`` build it, A alone are the poles.

    Its first forward pass multiplies C by 1 - p^l, p the discrete poles and l = l_kernel, and so ties C to
    the poles of that moment. A write takes that factor out again and sets l_kernel to 0; the module puts in
    the factor of the new poles at its next forward pass.
    """

    def __init__(self, name: str, module: nn.Module, kind: str) -> None:
        super().__init__(name, module, kind)
        parameter(module, "l_kernel", name)
        self.disc = "bilinear"

    @property
    def output(self) -> Tensor:
        stored, length = super().output, self._seen
        if length == 0:
            return stored
        self._check_diagonal()
        rows = self.poles.repeat(stored.shape[1] // self.poles.shape[0], 1)
        return stored / -complex_expm1(length * log_poles(rows, self.dt, self.disc))

    def write(
        self, poles: Tensor | None = None, dt: Tensor | None = None, output: Tensor | None = None
    ) -> None:
        self._check_diagonal()
        if self._seen and output is None:
            output = self.output
        super().write(poles=poles, dt=dt)
        if output is not None:
            self._start_over()
            super().write(output=output)

    def _start_over(self) -> None:
        """As before the first forward pass, which in inference mode leaves tensors that are read-only."""
        self.module.l_kernel = torch.zeros_like(parameter(self.module, "l_kernel", self.name))
        for key in ("omega", "z"):
            self.module.__dict__.pop(key, None)

    @torch.no_grad()
    def kernel(self, length: int) -> Tensor:
        """The module's own kernel; what computing it changes in the module is put back."""
        module, seen = self.module, self.module.l_kernel
        stored = module.C.clone()  # type: ignore[operator]
        caches = {key: module.__dict__.get(key) for key in ("omega", "z")}
        try:
            return module(L=length)[0]
        finally:
            module.C.copy_(stored)  # type: ignore[operator]
            module.l_kernel = seen
            for key, value in caches.items():
                module.__dict__.pop(key, None)
                if value is not None:
                    setattr(module, key, value)

    @property
    def _seen(self) -> int:
        return int(parameter(self.module, "l_kernel", self.name))

    def _check_diagonal(self) -> None:
        largest = parameter(self.module, "P", self.name).detach().abs().max().item()
        if largest != 0:
            raise HostError(
                f"{self.name or 'The model'}.P is not zero (up to {largest:.3g}), so A alone are "
                "not the layer's poles. Build it with init=tdi or init=diag-lin, where P is zero and stays "
                "zero, or with mode=diag."
            )
