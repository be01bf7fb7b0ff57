"""From frequencies and dampings to poles: exact under zero-order hold and under the bilinear rule."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError, choices

DISCRETISATIONS = ("zoh", "bilinear")
# Of the Nyquist frequency: float32 rounding of dt * |Im A| must not carry a pole past pi.
NYQUIST_MARGIN = 1e-5
HIGHEST = 0.5 * (1 - NYQUIST_MARGIN)


def place(frequencies: Tensor, damping: Tensor, dt: Tensor, disc: str = "zoh") -> Tensor:
    """Poles A whose discrete counterparts are p = exp(-damping - 2*pi*i*f).

    ZOH: A = log(p)/dt, so Im A = -2*pi*f/dt. Bilinear: A = (2/dt)(p - 1)/(p + 1) = (2/dt) tanh(log(p)/2),
    which takes out the warping of the frequency axis exactly. The imaginary part is negative, as s4's
    registry kernels store it.

    Args:
        frequencies: (S, P) cycles/sample, strictly between 0 and 1/2; values within rounding of 1/2 are held
            just below it (the alias guard, dt * |Im A| < pi).
        damping: broadcastable to (S, P), 1/tau per sample, positive.
        dt: broadcastable to (S, P), step sizes, positive.
        disc: "zoh" or "bilinear".

    Returns:
        (S, P) complex128.

    Raises:
        DataError: a frequency outside (0, 1/2), a damping or step size that is not positive and finite.
        OptionError: an unknown discretisation.
    """
    f = frequencies.to(torch.float64)
    if not ((f > 0) & (f < 0.5)).all():
        worst = f.flatten()[((f <= 0) | (f >= 0.5) | f.isnan()).flatten()][0].item()
        raise DataError(
            f"A pole was asked at frequency {worst!r}; frequencies lie strictly between 0 and 1/2 "
            "cycles/sample."
        )
    for name, value in (("damping", damping), ("dt", dt)):
        if not (torch.isfinite(value) & (value > 0)).all():
            raise DataError(
                f"{name} holds values that are not positive and finite; every pole needs a positive {name}."
            )
    log_p = torch.complex(
        -damping.to(torch.float64).expand_as(f).clone(), -2 * math.pi * f.clamp(max=HIGHEST)
    )
    if _known(disc) == "zoh":
        return log_p / dt
    return 2 / dt * torch.tanh(log_p / 2)


def log_poles(poles: Tensor, dt: Tensor, disc: str = "zoh") -> Tensor:
    """log p of the discrete poles: dt*A under ZOH, log((1 + dt*A/2)/(1 - dt*A/2)) under the bilinear rule."""
    z = poles * dt
    return z if _known(disc) == "zoh" else 2 * torch.atanh(z / 2)


def frequencies_of(poles: Tensor, dt: Tensor, disc: str = "zoh") -> Tensor:
    """Resonance of each pole in cycles/sample, -arg(p)/2*pi; not folded, so above 1/2 means aliased."""
    return -log_poles(poles, dt, disc).imag / (2 * math.pi)


def damping_of(poles: Tensor, dt: Tensor, disc: str = "zoh") -> Tensor:
    """Decay of each pole per sample, -log|p| = 1/tau."""
    return -log_poles(poles, dt, disc).real


def _known(disc: str) -> str:
    if disc not in DISCRETISATIONS:
        raise OptionError(f"Unknown discretisation {disc!r}: {choices(str(disc), DISCRETISATIONS)}")
    return disc
