"""The factored product against the sum it stands for, computed term by term in double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.nn import vandermonde_product, vandermonde_transpose
from tdi_plugin.nn.powers import power_table

LENGTHS = (1, 2, 3, 7, 16, 31, 97, 140, 257)


def direct(C: Tensor, x: Tensor, length: int) -> Tensor:
    """The product as one (N, L) table, as s4's fallback has it."""
    table = torch.exp(x.unsqueeze(-1) * torch.arange(length).to(x))
    return 2 * torch.einsum("...n,...nl->...l", C, table).real


def s4d_lin(heads: int, pairs: int, rows: int = 1, seed: int = 0) -> tuple[Tensor, Tensor]:
    """C (rows, H, P) and x (H, P) with the poles of S4D-Lin, complex64."""
    draw = torch.Generator().manual_seed(seed)
    dt = torch.exp(torch.rand(heads, 1, generator=draw) * math.log(100) + math.log(1e-3))
    A = torch.complex(torch.full((pairs,), -0.5), -math.pi * torch.arange(pairs).float())
    C = torch.randn(rows, heads, pairs, dtype=torch.complex64, generator=draw)
    return C, dt * A


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", [1, 5])
def test_equals_the_sum(length: int, rows: int) -> None:
    C, x = (t.to(torch.complex128) for t in s4d_lin(3, 4, rows))
    steps = np.arange(length)
    expected = 2 * np.einsum("chn,hnl->chl", C.numpy(), np.exp(x.numpy()[..., None] * steps)).real
    np.testing.assert_allclose(vandermonde_product(C, x, length).numpy(), expected, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("length", LENGTHS)
def test_transpose_is_the_adjoint(length: int) -> None:
    C, x = (t.to(torch.complex128) for t in s4d_lin(3, 4))
    u = torch.randn(2, 3, length, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    forward = (vandermonde_product(C, x, length) * u).sum(-1)  # (2, H)
    backward = 2 * (C * vandermonde_transpose(u, x)).sum(-1).real
    torch.testing.assert_close(forward, backward)


@pytest.mark.parametrize(("heads", "pairs", "length"), [(64, 32, 784), (16, 32, 4096), (8, 64, 16384)])
def test_single_precision_is_at_least_as_accurate_as_the_table(heads: int, pairs: int, length: int) -> None:
    C, x = s4d_lin(heads, pairs)
    exact = direct(C.to(torch.complex128), x.to(torch.complex128), length)

    def error(value: Tensor) -> float:
        return float((value - exact).norm() / exact.norm())

    factored = error(vandermonde_product(C, x, length))
    assert factored <= 1.5 * error(direct(C, x, length))
    assert factored < 1e-6


def test_long_kernels_with_poles_near_the_nyquist_frequency() -> None:
    x = torch.complex(torch.full((1, 3), -1e-4), torch.tensor([[-3.1, -3.14, -1e-4]]))
    C = torch.ones(1, 1, 3, dtype=torch.complex64)
    exact = direct(C.to(torch.complex128), x.to(torch.complex128), 20011)
    torch.testing.assert_close(vandermonde_product(C, x, 20011), exact.float(), atol=2e-5, rtol=0)


@pytest.mark.parametrize("length", [1, 2, 5, 13, 24])
@pytest.mark.parametrize("rows", [1, 3])
def test_gradients(length: int, rows: int) -> None:
    C, x = (t.to(torch.complex128).requires_grad_() for t in s4d_lin(2, 3, rows))
    assert torch.autograd.gradcheck(lambda C, x: vandermonde_product(C, x, length), (C, x))
    u = torch.randn(rows, 2, length, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(vandermonde_transpose, (u, x))


def test_second_derivatives() -> None:
    C, x = (t.to(torch.complex128).requires_grad_() for t in s4d_lin(2, 2))
    assert torch.autograd.gradgradcheck(lambda x: power_table(x, 6), (x,))
    assert torch.autograd.gradgradcheck(lambda C, x: vandermonde_product(C, x, 7), (C, x))


def test_powers_of_a_decaying_pole_underflow_to_zero_quietly() -> None:
    table = power_table(torch.full((1,), -30.0 + 1j, dtype=torch.complex64), 64)
    assert torch.isfinite(torch.view_as_real(table)).all()
    assert table[-1, 0] == 0


def test_traces_as_one_graph() -> None:
    C, x = (t.requires_grad_() for t in s4d_lin(2, 4))
    compiled = torch.compile(vandermonde_product, fullgraph=True, backend="aot_eager")
    value = compiled(C, x, 101)
    torch.testing.assert_close(value, vandermonde_product(C, x, 101))
    grad = torch.autograd.grad(value.square().sum(), (C, x))
    plain = torch.autograd.grad(vandermonde_product(C, x, 101).square().sum(), (C, x))
    torch.testing.assert_close(grad, plain)


def test_vmap_is_a_loop() -> None:
    pairs = [s4d_lin(2, 4, seed=seed) for seed in range(3)]
    C, x = torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])
    value = torch.func.vmap(lambda C, x: vandermonde_product(C, x, 50))(C, x)
    torch.testing.assert_close(value, torch.stack([vandermonde_product(*p, 50) for p in pairs]))


@pytest.mark.parametrize(
    ("C", "x", "length", "names"),
    [
        (torch.ones(1, 2, 3), torch.ones(2, 3), 4, "complex64 or complex128"),
        (torch.ones(1, 2, 4, dtype=torch.cfloat), torch.ones(2, 3, dtype=torch.cfloat), 4, r"\(1, 2, 4\)"),
        (
            torch.ones(1, 2, 3, dtype=torch.cdouble),
            torch.ones(2, 3, dtype=torch.cfloat),
            4,
            "one complex dtype",
        ),
        (torch.ones(1, 2, 3, dtype=torch.cfloat), torch.ones(2, 3, dtype=torch.cfloat), 0, "length of 0"),
    ],
)
def test_bad_input(C: Tensor, x: Tensor, length: int, names: str) -> None:
    with pytest.raises(DataError, match=names):
        vandermonde_product(C, x, length)
