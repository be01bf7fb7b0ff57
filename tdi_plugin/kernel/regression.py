"""Kernel regression with the induced kernel, in closed form."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel._checks import number, real
from tdi_plugin.kernel.spectra import EPS
from tdi_plugin.kernel.toeplitz import filtered


def kernel_regression(h: Any, x: Any, y: Any, x_test: Any, ridge: float = 0.0) -> Tensor:
    """Predictions k(x_test, x) (K + ridge I)^-1 y of the induced kernel.

    They minimise sum_i (f(u_i) - y_i)^2 + ridge ||f||^2 over the kernel's space. Without ridge it is the
    interpolant of least norm, or above L series the least-squares fit: the limit ridge -> 0. No mean is
    removed and no intercept fitted: centre inputs and targets first.

    Args:
        h: impulse response (L,) or (..., L); several channels are averaged.
        x: training series (B, L).
        y: targets (B,) or (B, d).
        x_test: series (B', L).
        ridge: at least 0.

    Returns:
        (B',) or (B', d).

    Raises:
        DataError: shapes that do not fit; without ridge, a Gram matrix of deficient rank (repeated or
            constant series, or a system whose modes die out below float64's reach).
    """
    ridge = number(ridge, "ridge")
    train, test = filtered(h, x), filtered(h, x_test, "The test data")
    targets = real(y, "The targets")
    count = train.shape[0]
    if targets.ndim not in (1, 2) or targets.shape[0] != count:
        raise DataError(
            f"The targets have shape {tuple(targets.shape)}; ({count},) or ({count}, d) was expected."
        )
    rank = min(count, torch.as_tensor(x).shape[-1])
    alpha = dual_coefficients(train @ train.mT, targets.reshape(count, -1), ridge, rank)
    return (test @ (train.mT @ alpha)).reshape(-1, *targets.shape[1:])


def dual_coefficients(gram: Tensor, targets: Tensor, ridge: float, rank: int) -> Tensor:
    """(gram + ridge I)^-1 targets (B, d); without ridge the pseudo-inverse, for a Gram matrix of that rank.

    Raises:
        DataError: without ridge, a lower rank.
    """
    if ridge > 0:
        return torch.linalg.solve(gram + ridge * torch.eye(gram.shape[0], dtype=gram.dtype), targets)
    values, vectors = torch.linalg.eigh(gram)
    alive = values > gram.shape[0] * EPS * values[-1]
    if int(alive.sum()) < rank:
        raise DataError(
            f"The Gram matrix of {gram.shape[0]} series has numerical rank {int(alive.sum())}; {rank} was "
            "expected without ridge. Drop repeated or constant series, or give ridge > 0."
        )
    return vectors @ ((vectors.mT @ targets) / torch.where(alive, values, torch.inf).unsqueeze(-1))
