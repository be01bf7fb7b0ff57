"""The causal map T_h: u -> h * u as an operator, and the kernel that it induces."""

from __future__ import annotations

from typing import Any

import numpy as np
import opt_einsum as oe
import scipy.fft
import scipy.linalg
import torch
from scipy.sparse.linalg import LinearOperator
from torch import Tensor

from tdi_plugin.kernel._checks import response, series


class ToeplitzOperator(LinearOperator):
    """T_h as a SciPy linear operator (C L, L), float64: convolution by FFT, transpose, matrix on demand.

    For C channels it stacks T_c / sqrt(C), so that T^T T is the mean of T_c^T T_c. It speaks NumPy.
    """

    def __init__(self, h: Any) -> None:
        rows = response(h)
        self.channels, self.length = rows.shape
        self.rows: np.ndarray = (rows / self.channels**0.5).numpy()
        self._size = scipy.fft.next_fast_len(2 * self.length - 1, real=True)
        self._transfer = scipy.fft.rfft(self.rows, self._size, axis=-1)
        super().__init__(np.float64, (self.channels * self.length, self.length))

    def _matmat(self, u: np.ndarray) -> np.ndarray:
        spectrum = scipy.fft.rfft(np.asarray(u, np.float64).T, self._size, axis=-1)  # (k, K)
        out = scipy.fft.irfft(self._transfer[:, None] * spectrum, self._size, axis=-1)[..., : self.length]
        return out.transpose(0, 2, 1).reshape(self.shape[0], -1)

    def _rmatmat(self, y: np.ndarray) -> np.ndarray:
        stacked = np.asarray(y, np.float64).reshape(self.channels, self.length, -1).transpose(2, 0, 1)
        spectrum = (scipy.fft.rfft(stacked, self._size, axis=-1) * self._transfer.conj()).sum(1)
        return scipy.fft.irfft(spectrum, self._size, axis=-1)[:, : self.length].T

    def _matvec(self, u: np.ndarray) -> np.ndarray:
        return self._matmat(u.reshape(-1, 1)).ravel()

    def _rmatvec(self, y: np.ndarray) -> np.ndarray:
        return self._rmatmat(y.reshape(-1, 1)).ravel()

    def dense(self) -> np.ndarray:
        """The matrix (C L, L)."""
        return np.concatenate([scipy.linalg.toeplitz(row, np.zeros(self.length)) for row in self.rows])

    def gram(self) -> np.ndarray:
        """T^T T (L, L), in O(C L^2): entry (i, j) is sum_m h[m] h[m + |i - j|] over m < L - max(i, j)."""
        out = np.empty((self.length, self.length))
        for lag in range(self.length):
            products = (self.rows[:, : self.length - lag] * self.rows[:, lag:]).sum(0)
            index = np.arange(self.length - lag)
            out[index, index + lag] = out[index + lag, index] = np.cumsum(products)[::-1]
        return out

    def trace(self) -> float:
        """||T||_F^2, from the response alone: each h[l] stands in L - l entries."""
        return float((self.rows**2 @ np.arange(self.length, 0, -1)).sum())


def toeplitz_operator(h: Any) -> ToeplitzOperator:
    """T_h as an operator, (T_h u)[t] = sum over s <= t of h[t - s] u[s].

    Args:
        h: impulse response (L,), or (..., L) for several channels.

    Returns:
        A SciPy ``LinearOperator`` (C L, L): ``T @ u``, ``T.T @ y``, ``T.dense()``.

    Raises:
        DataError: L < 2, or a response that is not finite.
    """
    return ToeplitzOperator(h)


def filtered(h: Any, x: Any, name: str = "The data") -> Tensor:
    """Features (T_h u) / sqrt(L) of series (B, L), as (B, C L): their inner products are the induced
    kernel."""
    T = toeplitz_operator(h)
    u = series(x, T.length, name).numpy()
    return torch.from_numpy((T @ u.T).T / T.length**0.5)


def induced_kernel(h: Any, x: Any, x_other: Any = None) -> Tensor:
    """Gram matrix (B, B') of K(u, u') = (1/L) (T_h u)^T (T_h u'), its mean over channels where h has several.

    That mean is, in expectation, the kernel of H channels whose common scalar input was lifted by independent
    weights of unit variance.

    Args:
        h: impulse response (L,) or (..., L).
        x: series (B, L).
        x_other: series (B', L); x by default.

    Raises:
        DataError: lengths that differ, values that are not finite.
    """
    left = filtered(h, x)
    right = left if x_other is None else filtered(h, x_other, "The other data")
    return oe.contract("bl,cl->bc", left, right)
