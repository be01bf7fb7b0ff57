"""How well a system's bias fits a task: alignment J, cumulative power C(rho), and a mismatch score."""

from __future__ import annotations

from typing import Any, NamedTuple

import opt_einsum as oe
import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.kernel._checks import columns, non_negative, real
from tdi_plugin.kernel.spectra import kernel_spectrum
from tdi_plugin.kernel.toeplitz import toeplitz_operator

METHODS = ("definition", "modes")


class CumulativePower(NamedTuple):
    """``curve`` (R,): C(rho) for rho = 1..R; ``area`` under it from (0, 0), over R, in [0, 1]."""

    curve: Tensor
    area: float


def mode_weights(v: Any, cross: Any) -> Tensor:
    """||v_rho^T C_uY||^2 (R,), the task's power on each mode, of modes (L, R) and C_uY (L,) or (L, d)."""
    modes = real(v, "The modes")
    return oe.contract("lr,ld->rd", modes, columns(cross, modes.shape[0])).square().sum(-1)


def alignment(h: Any, cross: Any, *, method: str = "definition", normalise: bool = False) -> float:
    """J = (1/L) ||T_h C_uY||_F^2 = sum_rho eta_rho ||v_rho^T C_uY||^2, the same number both ways.

    Args:
        h: impulse response (L,) or (..., L); several channels are averaged.
        cross: C_uY (L,) or (L, d).
        method: "definition" (one FFT product) or "modes" (a dense decomposition).
        normalise: J / sum(eta), which doesn't grow with the system's gain.

    Raises:
        DataError: C_uY of another length; with ``normalise``, a response that is zero everywhere.
    """
    if method not in METHODS:
        raise OptionError(f"method={method!r}: {choices(str(method), METHODS)}")
    T = toeplitz_operator(h)
    C = columns(cross, T.length)
    trace = T.trace() / T.length
    if normalise and trace == 0:
        raise DataError(
            "The impulse response is zero everywhere; J / sum(eta) needs a system with some gain."
        )
    if method == "modes":
        eta, v = kernel_spectrum(h)
        J = float(eta @ mode_weights(v, C))
    else:
        J = float(torch.from_numpy(T @ C.numpy()).square().sum()) / T.length
    return J / trace if normalise else J


def cumulative_power(weights: Any, total: float | None = None) -> CumulativePower:
    """C(rho) = sum over i <= rho of w_i, over the sum of all, for weights in order of falling eigenvalue.

    Only the order of the modes enters, so inside a group of equal eigenvalues it isn't determined.

    Args:
        weights: (R,) from ``mode_weights``.
        total: ||C_uY||_F^2, where only the leading modes are given; their sum by default.

    Raises:
        DataError: weights that are negative, not finite, or all zero.
    """
    w = non_negative(weights, "The mode weights")
    whole = float(w.sum()) if total is None else float(total)
    if not whole > 0:
        raise DataError(
            f"The mode weights sum to {whole:.3g}; some power in the cross-covariance was expected. "
            "Are the labels constant, or is the task free of phase?"
        )
    curve = w.cumsum(0) / whole
    return CumulativePower(curve, float((curve - w / whole / 2).mean()))


def mismatch(response: Any, spectrum: Any) -> float:
    """How far a response is from covering a task spectrum: 1 - sum_k s_k p_k / sum_k s_k^2, held to [0, 1].

    s is the task's density and p = |H|^2 over its sum, both without DC. sum_k s_k p_k is J / sum(eta) on the
    circulant model, so the score is the share missing of the alignment that the task's own shape has. 0: the
    response has that shape, or sits on its largest part; 1: no frequency in common. Densities count, not
    gains (a mode is learned by about 1/p series at the latest): a flat response doesn't cover a narrow
    task. The squares make it robust to the noise floor of a measured spectrum.

    Args:
        response: H (..., K) complex, or |H|^2 (..., K) real; several channels are averaged.
        spectrum: a TaskSpectrum, or its power (K,).

    Raises:
        DataError: grids that differ, or no power off DC on either side.
    """
    H = torch.as_tensor(response).detach().cpu()
    power = real(H.abs().square() if H.is_complex() else H, "The response")
    power = power.reshape(-1, power.shape[-1] if power.ndim else 1).mean(0)
    task = non_negative(getattr(spectrum, "power", spectrum), "The task spectrum")
    if power.shape != task.shape:
        raise DataError(
            f"The response has {power.numel()} frequencies and the task spectrum {task.numel()}; one grid "
            "was expected. Take both at one length."
        )
    s, p = _density(task, "task spectrum"), _density(power, "response")
    return min(1.0, max(0.0, 1.0 - float(s @ p / s.square().sum())))


def _density(power: Tensor, name: str) -> Tensor:
    power = power.clone()
    power[0] = 0.0
    if bool((power < 0).any()) or float(power.sum()) <= 0:
        raise DataError(
            f"The {name} has no power off DC, or some below 0; values >= 0 with some above were expected."
        )
    return power / power.sum()
