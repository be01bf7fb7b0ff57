"""The parameter form of s4's v4 kernels (inv_dt, A_real, A_imag, B, C), which the builtin kernel shares."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.transforms import invert, transform_of
from tdi_plugin.hosts.writing import confirm, overwrite, parameter, replace_where

# s4's "dss" differs from zero-order hold by a gain of each pole only: its poles are exp(dt * A) as well.
SAME_POLES = {"zoh": "zoh", "dss": "zoh", "bilinear": "bilinear"}


class CommonHost:
    """A = -T(A_real) - i T(A_imag), dt = T(inv_dt) (through sinh with dt_fast), read by ``_get_params``."""

    def __init__(self, name: str, module: nn.Module, kind: str) -> None:
        self.name, self.module, self.kind = name, module, kind
        if not callable(getattr(module, "_get_params", None)):
            raise HostError(
                f"{name or 'The model'} ({type(module).__name__}) has no _get_params; s4 v4 "
                "(e757cef) has one."
            )
        disc = getattr(module, "disc", "zoh")
        if disc not in SAME_POLES:
            raise HostError(
                f"{name or 'The model'}.disc is {disc!r}; poles can be placed under {', '.join(SAME_POLES)}."
            )
        self.disc = SAME_POLES[disc]
        channels, rows = (parameter(module, key, name).shape[0] for key in ("inv_dt", "A_real"))
        if channels % rows:
            raise HostError(
                f"{name or 'The model'} has {rows} rows of poles for {channels} channels; n_ssm "
                "must divide them."
            )

    @property
    def real(self) -> bool:
        """Whether the poles are real (s4's is_real), without A_imag."""
        return bool(getattr(self.module, "is_real", False))

    @property
    def poles(self) -> Tensor:
        return self._params()[1][: self._rows].to("cpu", torch.complex128)

    @property
    def dt(self) -> Tensor:
        return self._params()[0].to("cpu", torch.float64)

    @property
    def input(self) -> Tensor:
        return self._params()[2][0, : self._rows].to("cpu", torch.complex128)

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
            overwrite(self.module, "C", self._stored(output))
            confirm(output, self.output, self._dtype("C"), "C", self.name)

    def _stored(self, output: Tensor) -> Tensor:
        return output.real if self.real else torch.view_as_real(output.resolve_conj())

    def _write_poles(self, poles: Tensor) -> None:
        check_stable(poles, self.name)
        if self.real and (poles.imag != 0).any():
            raise HostError(
                f"{self.name or 'The model'} has is_real=True, so no A_imag: a real pole passes low "
                f"frequencies and cannot resonate at {poles.imag.abs().max():.4g} rad. Build the layer with "
                "is_real=False."
            )
        present = self.poles
        for attribute, part in (("A_real", "real"), ("A_imag", "imag"))[: 1 if self.real else 2]:
            transform = transform_of(self.module, f"{part}_transform")
            asked = -getattr(poles, part)
            replace_where(self.module, attribute, transform, asked, -getattr(present, part), self.name)
            confirm(asked, -getattr(self.poles, part), self._dtype(attribute), attribute, self.name)

    def _write_dt(self, dt: Tensor) -> None:
        raw = invert(transform_of(self.module, "dt_transform"), dt, "inv_dt", self.name)
        raw = torch.asinh(raw) if getattr(self.module, "dt_fast", False) else raw
        overwrite(self.module, "inv_dt", raw, dt != self.dt)
        confirm(dt, self.dt, self._dtype("inv_dt"), "inv_dt", self.name)

    @torch.no_grad()
    def _params(self) -> list[Tensor]:
        return [value.detach() for value in self.module._get_params()[:4]]  # type: ignore[operator]

    @property
    def _rows(self) -> int:
        return parameter(self.module, "A_real", self.name).shape[0]

    def _dtype(self, attribute: str) -> torch.dtype:
        return parameter(self.module, attribute, self.name).dtype


def check_stable(poles: Tensor, name: str) -> None:
    """Raise HostError unless every pole is finite and has a negative real part."""
    if not (torch.isfinite(poles.real) & torch.isfinite(poles.imag) & (poles.real < 0)).all():
        raise HostError(
            f"{name or 'The model'} was given a pole with real part {poles.real.max():.4g}; "
            "expected finite poles with a negative real part. Check the damping that was asked for."
        )
