"""The parameter form of s4's v4 kernels (inv_dt, A_real, A_imag, C), which the builtin kernel shares."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.transforms import invert, transform_of
from tdi_plugin.hosts.writing import confirm, overwrite, parameter

# s4's "dss" differs from zero-order hold by a gain of each pole only: its poles are exp(dt * A) as well.
SAME_POLES = {"zoh": "zoh", "dss": "zoh", "bilinear": "bilinear"}


class CommonHost:
    """A = -T(A_real) - i T(A_imag), dt = T(inv_dt) (through sinh with dt_fast), read by ``_get_params``."""

    def __init__(self, name: str, module: nn.Module, kind: str) -> None:
        self.name, self.module, self.kind = name, module, kind
        for attribute in ("inv_dt", "A_real", "C"):
            parameter(module, attribute, name)
        if not callable(getattr(module, "_get_params", None)):
            raise HostError(
                f"{name} ({type(module).__name__}) has no _get_params; s4 v4 (commit e757cef) has one."
            )
        disc = getattr(module, "disc", "zoh")
        if disc not in SAME_POLES:
            raise HostError(f"{name}.disc is {disc!r}; poles can be placed under {', '.join(SAME_POLES)}.")
        self.disc = SAME_POLES[disc]
        channels, rows = self.module.inv_dt.shape[0], self.module.A_real.shape[0]  # type: ignore[index]
        if channels % rows:
            raise HostError(
                f"{name} has {rows} rows of poles for {channels} channels; n_ssm must divide d_model."
            )

    @property
    def real(self) -> bool:
        """Whether the poles are real (s4's is_real), without A_imag."""
        return bool(getattr(self.module, "is_real", False))

    @property
    def poles(self) -> Tensor:
        rows = parameter(self.module, "A_real", self.name).shape[0]
        return self._params()[1][:rows].to("cpu", torch.complex128)

    @property
    def dt(self) -> Tensor:
        return self._params()[0].to("cpu", torch.float64)

    @property
    def output(self) -> Tensor:
        stored = parameter(self.module, "C", self.name).detach()
        return (stored if self.real else torch.view_as_complex(stored)).to("cpu", torch.complex128)

    @property
    def length(self) -> int | None:
        return getattr(self.module, "l_max", None) or None

    @property
    def highest(self) -> float:
        limit = getattr(self.module, "bandlimit", None)
        if limit is None:
            return 0.5
        # The mask compares dt * |Im A| / 2 pi, which the bilinear rule makes tan(pi f) / pi.
        masked = float(limit) / 2
        return min(0.5, masked if self.disc == "zoh" else math.atan(math.pi * masked) / math.pi)

    @torch.no_grad()
    def kernel(self, length: int) -> Tensor:
        return self.module(L=length)[0]

    def write(
        self, poles: Tensor | None = None, dt: Tensor | None = None, output: Tensor | None = None
    ) -> None:
        if poles is not None:
            self._write_poles(poles)
        if dt is not None:
            self._write_dt(dt)
        if output is not None:
            raw = output.real if self.real else torch.view_as_real(output.resolve_conj())
            overwrite(self.module, "C", raw)
            confirm(output, CommonHost.output.fget(self), self._dtype("C"), "C", self.name)  # type: ignore[attr-defined]

    def _write_poles(self, poles: Tensor) -> None:
        if not (poles.real < 0).all():
            raise HostError(
                f"{self.name} was given a pole with real part {poles.real.max():.4g}; stable poles have a "
                "negative one."
            )
        if self.real and (poles.imag != 0).any():
            raise HostError(
                f"{self.name} has is_real=True, so no A_imag: a real pole passes low frequencies and "
                "cannot resonate "
                f"at {poles.imag.abs().max():.4g} rad. Build the layer with is_real=False."
            )
        present = self.poles
        self._replace("A_real", transform_of(self.module, "real_transform"), -poles.real, -present.real)
        if not self.real:
            self._replace("A_imag", transform_of(self.module, "imag_transform"), -poles.imag, -present.imag)
        read = self.poles
        confirm(poles.real, read.real, self._dtype("A_real"), "A_real", self.name)
        if not self.real:
            confirm(poles.imag, read.imag, self._dtype("A_imag"), "A_imag", self.name)

    def _write_dt(self, dt: Tensor) -> None:
        transform = transform_of(self.module, "dt_transform")
        raw = invert(transform, dt, "inv_dt", self.name)
        raw = torch.asinh(raw) if getattr(self.module, "dt_fast", False) else raw
        overwrite(self.module, "inv_dt", raw, dt != self.dt)
        confirm(dt, self.dt, self._dtype("inv_dt"), "inv_dt", self.name)

    def _replace(self, attribute: str, transform: Any, asked: Tensor, present: Tensor) -> None:
        # A pole that stays keeps its exact bits, even where the inverse is undefined (a frequency of 0 under
        # exp).
        changed = asked != present
        safe = torch.where(changed, asked, torch.full_like(asked, 0.5))
        parameter(self.module, attribute, self.name)
        overwrite(self.module, attribute, invert(transform, safe, attribute, self.name), changed)

    @torch.no_grad()
    def _params(self) -> tuple[Tensor, ...]:
        return tuple(self.module._get_params())[:4]  # type: ignore[operator]

    def _dtype(self, attribute: str) -> torch.dtype:
        return parameter(self.module, attribute, self.name).dtype
