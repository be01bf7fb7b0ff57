"""The impulse response of explicit poles, continuous or discrete."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.kernel._checks import real
from tdi_plugin.nn.vandermonde import vandermonde_product
from tdi_plugin.poles.placement import DISCRETISATIONS
from tdi_plugin.poles.response import modes


def response_of_poles(poles: Tensor, length: int, dt: Any, output: Any, disc: str) -> Tensor:
    """2 Re sum_n C_n g_n z_n^l; the arguments are those of ``impulse_response``."""
    if disc not in DISCRETISATIONS:
        raise OptionError(f"disc={disc!r}: {choices(str(disc), DISCRETISATIONS)}")
    A = poles.to(torch.complex128).reshape(-1, poles.shape[-1] if poles.ndim else 1)
    check_stable(A, discrete=dt is None)
    C = torch.ones(A.shape[-1]) if output is None else torch.as_tensor(output).detach().cpu()
    C = C.to(torch.complex128)
    steps = None if dt is None else _steps(dt)
    heads = max(A.shape[0], C.shape[-2] if C.ndim > 1 else 1, 1 if steps is None else steps.shape[0])
    _check_shapes(A, C, steps, heads)
    if steps is None:
        log_pole, weights = torch.log(A).repeat(heads // A.shape[0], 1), C
    else:
        log_pole, weights = modes(A, steps.expand(heads, -1), C, disc)
    h = vandermonde_product(weights.expand(*C.shape[:-2], heads, -1), log_pole, length)
    h = real(h, "The impulse response of these poles")
    return h[0] if h.ndim == 2 and heads == 1 and poles.ndim < 2 and C.ndim < 2 else h


def check_stable(A: Tensor, discrete: bool) -> None:
    """Raise DataError unless every pole decays."""
    growth = A.abs() - 1 if discrete else A.real
    if bool((growth < 0).all()):
        return
    worst = A.flatten()[growth.nan_to_num(nan=float("inf")).argmax()].item()
    wanted = "|z| < 1 (without dt poles are discrete)" if discrete else "Re A < 0"
    raise DataError(
        f"A pole at {worst:.4g} is unstable; {wanted} was expected. Check its sign, or pass dt for "
        "continuous poles."
    )


def _steps(dt: Any) -> Tensor:
    steps = real(dt, "dt")
    if steps.ndim > 2 or bool((steps <= 0).any()):
        raise DataError(
            f"dt has shape {tuple(steps.shape)} and minimum {float(steps.min()):.3g}; step sizes above 0 "
            "were expected, one number, (H,), (H, 1) or (H, P)."
        )
    return steps.reshape(-1, 1) if steps.ndim < 2 else steps


def _check_shapes(A: Tensor, C: Tensor, steps: Tensor | None, heads: int) -> None:
    fits = heads % A.shape[0] == 0 and C.shape[-1] == A.shape[1] and (C.ndim < 2 or C.shape[-2] in (1, heads))
    if steps is not None:
        fits = fits and steps.shape[0] in (1, heads) and steps.shape[1] in (1, A.shape[1])
    if not fits:
        came = "" if steps is None else f", dt {tuple(steps.shape)}"
        raise DataError(
            f"poles {tuple(A.shape)}, output {tuple(C.shape)}{came} do not fit together; (S, P), (P,) or "
            "(channels, H, P), and one step size, H or (H, P) were expected, with S dividing H."
        )
