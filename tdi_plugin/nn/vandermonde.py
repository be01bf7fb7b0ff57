"""The Vandermonde product of diagonal state-space kernels, factored so that no (N, L) table is ever made."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def vandermonde_product(C: Tensor, x: Tensor, length: int) -> Tensor:
    """2 Re sum_n C[..., h, n] exp(x[h, n] l) for l = 0..length-1.

    Writing l = a + B b with B near sqrt(length), exp(x l) = exp(x a) exp(x B b): two small tables and one
    real batched matrix product of inner size 2P, in O(P sqrt(length) + length) memory a channel.

    Args:
        C: (..., H, P) complex weights.
        x: (H, P) complex logarithms of the discrete poles.
        length: number of samples, at least 1.

    Returns:
        (..., H, length) real, of the precision of C.
    """
    heads, pairs = x.shape[-2:]
    block = math.isqrt(length - 1) + 1
    blocks = -(-length // block)
    steps = torch.arange(max(block, blocks), device=x.device).to(x.real.dtype)
    inner = torch.exp(x.unsqueeze(-1) * steps[:block])  # (H, P, block)
    outer = torch.exp((x * block).unsqueeze(-1) * steps[:blocks])  # (H, P, blocks)
    weights = C.reshape(-1, heads, pairs).movedim(0, 1).unsqueeze(-1) * outer.unsqueeze(1)
    left = torch.cat((weights.real, -weights.imag), dim=2)  # (H, c, 2P, blocks)
    right = torch.cat((inner.real, inner.imag), dim=1).unsqueeze(1)  # (H, 1, 2P, block)
    product = 2 * (left.transpose(-1, -2) @ right)  # (H, c, blocks, block)
    product = product.flatten(-2)[..., :length].movedim(0, 1)
    return product.reshape(*C.shape[:-1], length)


def vandermonde_transpose(u: Tensor, x: Tensor) -> Tensor:
    """sum_l u[..., h, l] exp(x[h, n] l): the transposed product, (..., H, P) complex, factored alike.

    Args:
        u: (..., H, L) real.
        x: (H, P) complex logarithms of the discrete poles.
    """
    length = u.shape[-1]
    block = math.isqrt(length - 1) + 1
    blocks = -(-length // block)
    steps = torch.arange(max(block, blocks), device=x.device).to(x.real.dtype)
    inner = torch.exp(x.unsqueeze(-1) * steps[:block])
    outer = torch.exp((x * block).unsqueeze(-1) * steps[:blocks])
    padded = torch.nn.functional.pad(u, (0, block * blocks - length)).unflatten(-1, (blocks, block))
    table = torch.cat((inner.real, inner.imag), dim=-2).transpose(-1, -2)  # (H, block, 2P)
    partial = padded @ table  # (..., H, blocks, 2P)
    real, imag = partial.transpose(-1, -2).chunk(2, dim=-2)
    return (torch.complex(real, imag) * outer).sum(-1)
