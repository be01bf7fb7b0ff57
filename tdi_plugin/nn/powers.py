"""Tables exp(x k) by doubling: as accurate as float arithmetic allows, and a few multiplications a value."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def power_table(x: Tensor, count: int) -> Tensor:
    """exp(x k) for k = 0..count-1: (..., P) complex to (..., count, P).

    exp(x 2^j) is evaluated for each j, where x 2^j is exact, and the rest are products of these. So the error
    is that of log2(count) multiplications, where evaluating each exp(x k) has that of rounding its phase.
    """
    return _PowerTable.apply(x, count)


def _table(x: Tensor, count: int) -> Tensor:
    table = torch.ones_like(x).unsqueeze(-2)
    if count == 1:
        return table
    levels = 2.0 ** torch.arange((count - 1).bit_length(), device=x.device, dtype=x.real.dtype)
    levels = levels.unsqueeze(-1)
    root = torch.polar(torch.exp(x.real.unsqueeze(-2) * levels), x.imag.unsqueeze(-2) * levels)
    for j in range(levels.shape[0]):
        table = torch.cat((table, table[..., : count - 2**j, :] * root[..., j : j + 1, :]), dim=-2)
    return table


class _PowerTable(torch.autograd.Function):
    """d exp(x k) / dx = k exp(x k): the gradient needs the table itself and nothing else."""

    @staticmethod
    def forward(x: Tensor, count: int) -> Tensor:
        return _table(x, count)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (table,) = ctx.saved_tensors
        k = torch.arange(table.shape[-2], device=table.device, dtype=table.real.dtype)
        products = torch.view_as_real(table.conj() * grad)
        return torch.view_as_complex((k @ products.flatten(-2)).unflatten(-1, (-1, 2))), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, None], x: Tensor, count: int) -> tuple[Tensor, int]:
        dim = in_dims[0]
        assert dim is not None
        return _PowerTable.apply(x.movedim(dim, 0), count), 0
