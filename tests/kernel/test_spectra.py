"""The kernel's eigenvalues: exact, leading, and under inputs that are not white."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel import (
    induced_kernel,
    kernel_spectrum,
    mode_weights,
    population_spectrum,
    toeplitz_operator,
)

FIXED = settings(derandomize=True, deadline=None, max_examples=25)
System = Callable[..., Tensor]


def coloured(length: int, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    F = torch.randn(length, 2 * length, generator=g, dtype=torch.float64)
    return F @ F.mT / length


@FIXED
@given(seed=st.integers(0, 2**20), length=st.integers(2, 96), channels=st.integers(1, 3))
def test_eigenvalues_sum_to_the_trace_and_diagonalise_the_map(
    system: System, seed: int, length: int, channels: int
) -> None:
    h = torch.stack([system(seed + c, length) for c in range(channels)])
    eta, v = kernel_spectrum(h)
    T = torch.from_numpy(toeplitz_operator(h).dense())
    assert float(eta.sum()) == pytest.approx(float(T.square().sum()) / length, rel=1e-10)
    assert (eta.diff() <= 0).all()
    torch.testing.assert_close(v.mT @ v, torch.eye(length, dtype=torch.float64), rtol=0, atol=1e-12)
    M = T.mT @ T / length
    torch.testing.assert_close(v * eta @ v.mT, M, rtol=0, atol=1e-12 * float(eta[0]) * length)


def test_leading_modes_by_svds(system: System) -> None:
    for h in (system(3, 300), torch.stack([system(s, 300) for s in range(4)])):
        eta, v = kernel_spectrum(h, 12)
        exact = kernel_spectrum(h)
        torch.testing.assert_close(eta, exact.eta[:12], rtol=1e-10, atol=0)
        overlap = torch.linalg.svdvals(v.mT @ exact.v[:, :12])
        torch.testing.assert_close(overlap, torch.ones_like(overlap), rtol=0, atol=1e-6)
    assert torch.equal(kernel_spectrum(h, 5).eta, kernel_spectrum(h, 5).eta)


def test_white_inputs_have_the_systems_own_modes(system: System) -> None:
    h, C = system(1, 24), torch.randn(24, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    eta, v = kernel_spectrum(h)
    white = population_spectrum(h, 4.0 * torch.eye(24), C)
    torch.testing.assert_close(white.eta, 4.0 * eta, rtol=1e-10, atol=0)
    torch.testing.assert_close(white.weights, mode_weights(v, C) / 4.0, rtol=1e-8, atol=1e-12)


@FIXED
@given(seed=st.integers(0, 2**20), length=st.integers(3, 40))
def test_population_modes_are_mercers(system: System, seed: int, length: int) -> None:
    h, sigma = system(seed, length), coloured(length, seed)
    C = torch.randn(length, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    eta, weights, phi = population_spectrum(h, sigma, C)
    eye = torch.eye(length, dtype=torch.float64)
    torch.testing.assert_close(phi.mT @ sigma @ phi, eye, rtol=0, atol=1e-8)
    M = induced_kernel(h, eye)
    torch.testing.assert_close(phi * eta @ phi.mT, M, rtol=1e-7, atol=1e-9 * float(M.abs().max()))
    # the whole linear part of the target is in the weights: Var E[Y|u] = C^T Sigma^-1 C
    explained = float(C @ torch.linalg.solve(sigma, C))
    assert float(weights.sum()) == pytest.approx(explained, rel=1e-7)
    generalised = scipy.linalg.eigh(M.numpy(), torch.linalg.inv(sigma).numpy(), eigvals_only=True)[::-1]
    torch.testing.assert_close(
        eta, torch.from_numpy(generalised.copy()), rtol=1e-6, atol=1e-10 * float(eta[0])
    )


def test_coloured_inputs_change_the_modes(system: System) -> None:
    h, C = system(2, 32), torch.ones(32, dtype=torch.float64)
    sigma = torch.from_numpy(scipy.linalg.toeplitz(0.9 ** torch.arange(32).numpy()))
    coloured_eta = population_spectrum(h, sigma, C).eta
    assert (
        float(
            (coloured_eta / coloured_eta.sum() - kernel_spectrum(h).eta / kernel_spectrum(h).eta.sum())
            .abs()
            .sum()
        )
        > 0.1
    )


def test_rank_deficient_covariance(system: System) -> None:
    h, x = system(0, 16), torch.randn(6, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    sigma = x.mT @ x / 6
    assert population_spectrum(h, sigma, x[0]).eta.shape == (6,)
    with pytest.raises(DataError, match=r"rank 6 of 16, and \d+\.\d% of the cross-covariance lies outside"):
        population_spectrum(h, sigma, torch.ones(16))


@pytest.mark.parametrize(
    ("sigma", "says"),
    [
        (torch.eye(5), r"symmetric \(6, 6\)"),
        (torch.ones(6, 6).triu(), "symmetric"),
        (-torch.eye(6), "none below 0"),
        (torch.zeros(6, 6), "some above"),
        (torch.full((6, 6), torch.nan), "NaN"),
    ],
)
def test_bad_covariances(sigma: Tensor, says: str) -> None:
    with pytest.raises(DataError, match=says):
        population_spectrum(torch.ones(6), sigma, torch.ones(6))


@pytest.mark.parametrize("modes", [0, 6, 7])
def test_bad_number_of_modes(modes: int) -> None:
    with pytest.raises(DataError, match=f"modes={modes}; 1 to 5 were expected"):
        kernel_spectrum(torch.ones(6), modes)


def test_an_impulse_has_no_leading_modes() -> None:
    delta = torch.zeros(400)
    delta[0] = 1.0
    with pytest.raises(DataError, match="svds finds no 20 leading modes"):
        kernel_spectrum(delta, 20)
    torch.testing.assert_close(kernel_spectrum(delta).eta, torch.full((400,), 1 / 400, dtype=torch.float64))
