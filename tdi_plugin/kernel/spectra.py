"""Eigenvalues of the induced kernel: all, the leading ones, and those under the data's own covariance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import opt_einsum as oe
import scipy.linalg
import torch
from scipy.sparse.linalg import ArpackError, svds
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel._checks import columns, real
from tdi_plugin.kernel.toeplitz import toeplitz_operator

EPS = float(np.finfo(np.float64).eps)


class KernelSpectrum(NamedTuple):
    """Eigenvalues ``eta`` (R,), largest first, and orthonormal modes ``v`` (L, R) in its columns."""

    eta: Tensor
    v: Tensor


class PopulationSpectrum(NamedTuple):
    """Eigenvalues ``eta`` (R,), the target's squared coefficients ``weights`` (R,), ``functions`` (L, R)."""

    eta: Tensor
    weights: Tensor
    functions: Tensor


def kernel_spectrum(h: Any, modes: int | None = None, seed: int = 0) -> KernelSpectrum:
    """Spectrum of M = T_h^T T_h / L, the matrix of the induced kernel: T_h = sqrt(L) U S V^T, eta = S^2.

    All eta sum to ||T_h||_F^2 / L. Under *white* inputs of unit variance eta and v^T u are the kernel's
    Mercer decomposition; for other inputs see ``population_spectrum``.

    Args:
        h: impulse response (L,) or (..., L); several channels are averaged.
        modes: None for all L by a dense decomposition, O(L^3); a number below L for the leading ones by
            SciPy's ``svds`` on the operator, O(L log L) a product.
        seed: of the vector that svds starts from.

    Raises:
        DataError: L < 2, a response that is not finite, modes outside 1..L-1, eigenvalues too close for svds.
    """
    T = toeplitz_operator(h)
    if modes is None:
        if T.channels == 1:  # singular values of T itself: small eta keep their relative precision
            _, s, vt = scipy.linalg.svd(T.dense(), full_matrices=False)
            eta, v = s**2, vt.T
        else:
            eta, v = scipy.linalg.eigh(T.gram())
            eta[eta < T.length * EPS * eta[-1]] = 0.0  # rounding, not modes
            eta, v = eta[::-1], v[:, ::-1]
    else:
        if not 1 <= modes < T.length:
            raise DataError(
                f"modes={modes}; 1 to {T.length - 1} were expected at length {T.length}, or None for all."
            )
        start = np.random.default_rng(seed).standard_normal(T.length)
        try:
            _, s, vt = svds(T, modes, v0=start, return_singular_vectors="vh")
        except ArpackError as error:
            raise DataError(
                f"svds finds no {modes} leading modes ({error}); a response whose eigenvalues differ was "
                "expected. Take modes=None: one that is (nearly) a single impulse has no leading modes."
            ) from error
        eta, v = s[::-1] ** 2, vt[::-1].T
    return KernelSpectrum(torch.from_numpy(eta.copy()) / T.length, torch.from_numpy(v.copy()))


def population_spectrum(h: Any, covariance: Any, cross: Any) -> PopulationSpectrum:
    """Mercer decomposition of the induced kernel under inputs of covariance Sigma, and the target in it.

    K(u, u') = u^T M u' has eigenfunctions phi_r(u) = q_r^T Sigma^(-1/2) u, orthonormal under the data, where
    Sigma^(1/2) M Sigma^(1/2) = Q diag(eta) Q^T. The target's coefficients are E[Y phi_r(u)] = q_r^T
    Sigma^(-1/2) C_uY. For Sigma = I they are those of ``kernel_spectrum`` and ``mode_weights``; for no other.

    Args:
        h: impulse response (L,) or (..., L); several channels are averaged.
        covariance: Sigma (L, L) of inputs of mean zero, symmetric; may be singular.
        cross: C_uY (L,) or (L, d).

    Returns:
        eta, weights (summed over the d targets) and the coefficients of phi_r, for R = rank of Sigma.

    Raises:
        DataError: Sigma not symmetric positive semidefinite; C_uY outside its range, which no data give.
    """
    T = toeplitz_operator(h)
    C = columns(cross, T.length)
    scale, vectors = _factor(covariance, T.length)
    coefficients = vectors.mT @ C
    outside = float((C - vectors @ coefficients).norm() / C.norm().clamp_min(1e-300))
    if outside > 1e-6:
        raise DataError(
            f"The covariance has rank {scale.numel()} of {T.length}, and {outside:.1%} of the "
            "cross-covariance lies outside its range; none was expected. Estimate both from the same series, "
            "or add a multiple of the identity to the covariance."
        )
    _, s, qt = scipy.linalg.svd(T @ (vectors * scale).numpy(), full_matrices=False)
    q = torch.from_numpy(qt.T.copy())
    functions = oe.contract("lr,r,rm->lm", vectors, 1 / scale, q)
    weights = oe.contract("rm,rd->md", q, coefficients / scale.unsqueeze(-1)).square().sum(-1)
    return PopulationSpectrum(torch.from_numpy(s**2) / T.length, weights, functions)


def _factor(covariance: Any, length: int) -> tuple[Tensor, Tensor]:
    """Standard deviations (R,) and directions (L, R) of the part of Sigma that isn't zero."""
    sigma = real(covariance, "The covariance")
    symmetric = tuple(sigma.shape) == (length, length) and torch.allclose(
        sigma, sigma.mT, rtol=1e-8, atol=1e-12
    )
    if not symmetric:
        raise DataError(
            f"The covariance has shape {tuple(sigma.shape)}; a symmetric ({length}, {length}) matrix was "
            "expected."
        )
    values, vectors = torch.linalg.eigh(sigma)
    if values[-1] <= 0 or values[0] < -1e-8 * values[-1]:
        raise DataError(
            f"The covariance has eigenvalues from {float(values[0]):.3g} to {float(values[-1]):.3g}; none "
            "below 0 and some above were expected."
        )
    keep = values > length * EPS * values[-1]
    return values[keep].sqrt(), vectors[:, keep]
