"""The learning curve of kernel regression in closed form, from the kernel's spectrum and the target's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel._checks import non_negative, number, real
from tdi_plugin.kernel.spectra import EPS


def predicted_learning_curve(
    eta: Any,
    weights: Any,
    sizes: Any,
    ridge: float = 0.0,
    noise: float = 0.0,
) -> Tensor:
    """Expected squared error E[(f - f*)^2] of kernel regression on new inputs, after each number of series.

    With P series, kappa solves kappa = ridge + sum_r kappa eta_r / (P eta_r + kappa); then

        gamma = sum_r P eta_r^2 / (P eta_r + kappa)^2,
        error = [sum_r a_r^2 (kappa / (P eta_r + kappa))^2 + gamma noise] / (1 - gamma)

    (Bordelon, Canatar & Pehlevan 2020; with noise, Canatar, Bordelon & Pehlevan 2021). It holds as P and the
    number of modes that matter grow; at finite P it is off by about 1/P, more where P nears L without ridge.

    Args:
        eta: (R,) eigenvalues *under the data's distribution*: ``kernel_spectrum`` for white inputs of unit
            variance, ``population_spectrum`` for others.
        weights: (R,) a_r^2, the target's squared coefficients on orthonormal eigenfunctions, summed over
            targets. Bordelon et al. expand in sqrt(eta) phi instead: their w_r^2 is a_r^2 / eta_r.
        sizes: (n,) numbers P of training series, at least 0.
        ridge: as in ``kernel_regression``.
        noise: variance of the targets' noise, summed over targets, with that part of them which is no linear
            function of the input. It isn't counted in the error itself.

    Returns:
        (n,); infinite where P equals the rank, without ridge and with noise.

    Raises:
        DataError: shapes that differ, values below 0 or not finite, or no eigenvalue above 0.
    """
    lam, a2 = non_negative(eta, "eta"), non_negative(weights, "The mode weights")
    if lam.shape != a2.shape or not float(lam.sum()) > 0:
        raise DataError(
            f"eta has shape {tuple(lam.shape)} and sum {float(lam.sum()):.3g}, the weights "
            f"{tuple(a2.shape)}; equal shapes and some eta above 0 were expected."
        )
    ridge, noise = number(ridge, "ridge"), number(noise, "noise")
    points = non_negative(real(sizes, "sizes").reshape(-1), "sizes")
    # eta is a squared singular value, known to (R eps)^2 of the largest: below that it is zero
    alive = lam > (lam.numel() * EPS) ** 2 * lam.max()
    never = float(a2[~alive].sum())
    errors = [_error(lam[alive].numpy(), a2[alive].numpy(), float(P), ridge, noise, never) for P in points]
    return torch.tensor(errors, dtype=torch.float64)


def _error(lam: np.ndarray, a2: np.ndarray, P: float, ridge: float, noise: float, never: float) -> float:
    """``never``: target power on modes of eigenvalue zero; it isn't learned, and is noise to the rest."""
    kappa = effective_ridge(lam, P, ridge)
    rest = kappa / (P * lam + kappa) if kappa > 0 else np.zeros_like(lam)
    gamma = float(((1 - rest) ** 2).sum() / P) if P > 0 else 0.0
    numerator = float((a2 * rest**2).sum()) + gamma * noise + never
    if gamma >= 1.0:
        return float("inf") if numerator > 0 else 0.0
    return numerator / (1 - gamma)


def effective_ridge(lam: np.ndarray, P: float, ridge: float) -> float:
    """kappa, between ridge and ridge + sum(lam); without ridge it is 0 once P reaches the rank.

    kappa = ridge + sum_r kappa lam_r / (P lam_r + kappa), divided by kappa, falls strictly from above 1 to
    below it.
    """
    if ridge == 0 and lam.size <= P:
        return 0.0

    def excess(log_kappa: float) -> float:
        kappa = np.exp(log_kappa)
        return float(ridge / kappa + (lam / (P * lam + kappa)).sum() - 1)

    high = float(np.log(ridge + lam.sum())) + 1e-9
    low = float(np.log(ridge)) - 1e-9 if ridge > 0 else high - 1
    while excess(low) < 0:
        low -= 10.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=8.9e-16)))
