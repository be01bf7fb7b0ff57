"""The Vandermonde product of diagonal state-space kernels, factored so that no (N, L) table is ever made."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.nn.powers import power_table


def vandermonde_product(C: Tensor, x: Tensor, length: int) -> Tensor:
    """2 Re sum_n C[..., h, n] exp(x[h, n] l) for l = 0..length-1.

    Writing l = a + B b with B a power of two near sqrt(length), exp(x l) = exp(x a) exp(x B b): two small
    tables of powers and one real batched matrix product of inner size 2P, in O(P sqrt(length) + length)
    memory a channel. Differentiable in C and x.

    Args:
        C: (..., H, P) complex weights; every leading index shares the poles.
        x: (H, P) complex logarithms of the discrete poles, real parts at most zero for a decaying kernel.
        length: number of samples, at least 1.

    Returns:
        (..., H, length) real, of the precision of x.

    Raises:
        DataError: if the shapes or dtypes don't fit, or the length is not positive.
    """
    _check(x, length)
    if C.shape[-2:] != x.shape or C.dtype != x.dtype:
        raise DataError(
            f"Got C {tuple(C.shape)} {C.dtype} with x {tuple(x.shape)} {x.dtype}; "
            "expected C (..., H, P) and x (H, P) of one complex dtype."
        )
    heads, pairs = x.shape
    rows = C.reshape(-1, heads, pairs)
    block, blocks = _split(length, rows.shape[0])
    inner = power_table(x, block)  # (H, block, P)
    # Re(w e) is the dot product of (Re, Im) of conj(w) with that of e: conjugate here, then only views
    outer = power_table((x * block).conj().resolve_conj(), blocks)  # (H, blocks, P)
    weights = (2 * rows.conj()).resolve_conj().transpose(0, 1).unsqueeze(2) * outer.unsqueeze(1)
    left = torch.view_as_real(weights).flatten(-2).flatten(1, 2)  # (H, c * blocks, 2P)
    right = torch.view_as_real(inner).flatten(-2)  # (H, block, 2P)
    product = torch.bmm(left, right.transpose(1, 2)).reshape(heads, rows.shape[0], blocks * block)
    return product[..., :length].transpose(0, 1).reshape(*C.shape[:-1], length)


def vandermonde_transpose(u: Tensor, x: Tensor) -> Tensor:
    """sum_l u[..., h, l] exp(x[h, n] l): the transposed product, (..., H, P) complex, factored alike.

    Args:
        u: (..., H, L) real.
        x: (H, P) complex logarithms of the discrete poles.

    Raises:
        DataError: if the shapes don't fit.
    """
    _check(x, u.shape[-1])
    if u.shape[-2] != x.shape[0]:
        raise DataError(f"Got u {tuple(u.shape)}, x {tuple(x.shape)}; expected u (..., H, L) and x (H, P).")
    length = u.shape[-1]
    block, blocks = _split(length, 1)
    table = torch.view_as_real(power_table(x, block)).flatten(-2)  # (H, block, 2P)
    padded = torch.nn.functional.pad(u, (0, block * blocks - length)).unflatten(-1, (blocks, block))
    partial = torch.view_as_complex((padded @ table).unflatten(-1, (-1, 2)))  # (..., H, blocks, P)
    return (partial * power_table(x * block, blocks)).sum(-2)


def _split(length: int, rows: int) -> tuple[int, int]:
    """Block size, a power of two so that x times it is exact, near sqrt(rows * length); number of blocks."""
    exponent = max(0, round(0.5 * (rows * length).bit_length() - 0.5))
    block = min(1 << exponent, 1 << (length - 1).bit_length())
    return block, -(-length // block)


def _check(x: Tensor, length: int) -> None:
    if x.ndim != 2 or x.dtype not in (torch.complex64, torch.complex128):
        raise DataError(f"Got x {tuple(x.shape)} {x.dtype}; expected (H, P), complex64 or complex128.")
    if length < 1:
        raise DataError(f"Got a length of {length}; expected at least one sample.")
