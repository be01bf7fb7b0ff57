"""Other ways to compute the Vandermonde product, and what to compute it of."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Product = Callable[[Tensor, Tensor, int], Tensor]


def direct(C: Tensor, x: Tensor, length: int) -> Tensor:
    """2 Re sum_n C[..., h, n] exp(x[h, n] l) through the whole table."""
    table = torch.exp(x.unsqueeze(-1) * torch.arange(length).to(x))
    return 2 * torch.einsum("...n,...nl->...l", C, table).real


def keops(C: Tensor, x: Tensor, length: int) -> Tensor:
    """The same as a KeOps reduction, as s4 writes it, but on the CPU."""
    from pykeops.torch import Genred

    formula, variables = (
        "ComplexMult(v, ComplexExp(ComplexMult(x, l)))",
        ["v = Vj(2)", "x = Vj(2)", "l = Vi(2)"],
    )
    steps = torch.arange(length).to(x).view(1, 1, -1)
    args = [torch.view_as_real(t.contiguous()) for t in (C, x.unsqueeze(0), steps)]
    found = Genred(formula, variables, reduction_op="Sum", axis=1)(*args, backend="CPU")
    return 2 * torch.view_as_complex(found).real


def s4d_lin(heads: int, pairs: int) -> tuple[Tensor, Tensor]:
    """Weights (1, H, P) and log poles (H, P) of S4D-Lin with s4's range of step sizes."""
    draw = torch.Generator().manual_seed(0)
    dt = torch.exp(torch.rand(heads, 1, generator=draw) * math.log(100) + math.log(1e-3))
    A = torch.complex(torch.full((pairs,), -0.5), -math.pi * torch.arange(pairs).float())
    C = torch.randn(1, heads, pairs, dtype=torch.complex64, generator=draw)
    return C.requires_grad_(), (dt * A).requires_grad_()


def both_ways(product: Product, C: Tensor, x: Tensor, length: int) -> Callable[[], object]:
    """Forward and backward of a product."""
    weight = torch.randn(1, x.shape[0], length)
    return lambda: torch.autograd.grad(product(C, x, length), (C, x), weight)
