"""The teaching file models/s4/s4d.py of state-spaces/s4, as many people copy it into their own projects."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.common import check_stable
from tdi_plugin.hosts.transforms import TRANSFORMS
from tdi_plugin.hosts.writing import confirm, overwrite, parameter, replace_where
from tdi_plugin.poles.response import impulse_response

ATTRIBUTES = ("log_dt", "log_A_real", "A_imag", "C")
# It has no accessor for its parameters, so that its own kernel is read back: float32, a few samples.
SAMPLES, TOLERANCE = 16, 1e-3


def s4d_file(name: str, module: nn.Module) -> S4DFileHost | None:
    """The adapter of S4DKernel from s4d.py, or None for any other module."""
    own = type(module).__name__ == "S4DKernel" and all(hasattr(module, key) for key in ATTRIBUTES)
    return S4DFileHost(name, module) if own else None


class S4DFileHost:
    """A = -exp(log_A_real) + i A_imag: opposite in sign to the registry, so A and C are seen conjugated."""

    disc = "zoh"
    length: int | None = None
    highest = 0.5

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name, self.module, self.kind = name, module, "s4d.py S4DKernel"

    @property
    def poles(self) -> Tensor:
        real, imag = self._read("log_A_real").exp(), self._read("A_imag")
        return torch.complex(-real, -imag)

    @property
    def dt(self) -> Tensor:
        return self._read("log_dt").exp()[:, None]

    @property
    def input(self) -> Tensor:
        return torch.ones_like(self.poles)

    @property
    def output(self) -> Tensor:
        return torch.view_as_complex(self._read("C")).conj().resolve_conj()[None]

    @torch.no_grad()
    def kernel(self, length: int) -> Tensor:
        return self.module(L=length)[None]

    def write(
        self, poles: Tensor | None = None, dt: Tensor | None = None, output: Tensor | None = None
    ) -> None:
        exp, none, present = TRANSFORMS["exp"], TRANSFORMS["none"], self.poles
        if poles is not None:
            check_stable(poles, self.name)
            replace_where(self.module, "log_A_real", exp, -poles.real, -present.real, self.name)
            replace_where(self.module, "A_imag", none, -poles.imag, -present.imag, self.name)
            confirm(poles.real, self.poles.real, torch.float32, "log_A_real", self.name)
            confirm(poles.imag, self.poles.imag, torch.float32, "A_imag", self.name)
        if dt is not None:
            replace_where(self.module, "log_dt", exp, dt[:, 0], self.dt[:, 0], self.name)
            confirm(dt, self.dt, torch.float32, "log_dt", self.name)
        if output is not None:
            overwrite(self.module, "C", torch.view_as_real(output[0].conj().resolve_conj()))
            confirm(output, self.output, torch.float32, "C", self.name)
        self._confirm_kernel()

    def _confirm_kernel(self) -> None:
        expected = impulse_response(self, SAMPLES)
        error = (self.kernel(SAMPLES).to("cpu", torch.float64) - expected).abs().max()
        if not error <= TOLERANCE * expected.abs().max():
            raise HostError(
                f"{self.name or 'The model'} was written, but its kernel differs by {error:.3g} "
                "from that of its own log_dt, log_A_real, A_imag and C. It is not s4's s4d.py as known; "
                "write an adapter for it."
            )

    def _read(self, attribute: str) -> Tensor:
        return parameter(self.module, attribute, self.name).detach().to("cpu", torch.float64)
