"""The predicted learning curve against random-matrix closed forms and against regressions that were run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel import (
    kernel_regression,
    kernel_spectrum,
    mode_weights,
    population_spectrum,
    predicted_learning_curve,
)
from tdi_plugin.kernel.learning_curve import effective_ridge

System = Callable[..., Tensor]


def marchenko_pastur_risk(aspect: float, lam: float, signal: float, noise: float) -> float:
    """Ridge risk on isotropic inputs (Hastie et al. 2022, corollary 5); aspect = dimension / samples."""

    def stieltjes(z: float) -> float:
        root = np.sqrt((1 - aspect + z) ** 2 + 4 * aspect * z)
        return float((-(1 - aspect + z) + root) / (2 * aspect * z))

    step = 1e-5 * lam
    slope = -(stieltjes(lam + step) - stieltjes(lam - step)) / (2 * step)
    return signal * lam**2 * slope + noise * aspect * (stieltjes(lam) - lam * slope)


@pytest.mark.parametrize("count", [10, 50, 100, 300])
@pytest.mark.parametrize("ridge", [0.01, 0.5])
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_isotropic_case_is_marchenko_pasturs(count: int, ridge: float, noise: float) -> None:
    L, signal = 100, 2.0
    curve = predicted_learning_curve(torch.ones(L) / L, torch.full((L,), signal / L), [count], ridge, noise)
    expected = marchenko_pastur_risk(L / count, ridge * L / count, signal, noise)
    assert float(curve) == pytest.approx(expected, rel=1e-5)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**20),
    rank=st.integers(1, 60),
    count=st.integers(0, 200),
    ridge=st.sampled_from([0, 1e-9, 0.1, 50]),
)
def test_effective_ridge_solves_its_equation(seed: int, rank: int, count: int, ridge: float) -> None:
    lam = np.exp(8 * np.random.default_rng(seed).standard_normal(rank))
    kappa = effective_ridge(lam, count, ridge)
    assert kappa == pytest.approx(
        ridge + (kappa * lam / (count * lam + kappa)).sum() if kappa else 0.0, rel=1e-9
    )
    assert (kappa == 0) == (ridge == 0 and count >= rank)


def test_limits() -> None:
    eta, a2 = torch.tensor([3.0, 1.0, 0.1]), torch.tensor([1.0, 2.0, 0.5])
    assert predicted_learning_curve(eta, a2, [0]).tolist() == [3.5]
    assert predicted_learning_curve(eta, a2, [3, 4, 100]).tolist() == [0.0, 0.0, 0.0]
    after = predicted_learning_curve(eta, a2, [3, 6, 30], noise=1.0).tolist()
    assert after == pytest.approx([float("inf"), 3 / (6 - 3), 3 / (30 - 3)])
    assert float(predicted_learning_curve(eta, a2, [1e7], ridge=1.0)) < 1e-10
    dead = predicted_learning_curve(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0]), [0, 50], ridge=0.1)
    assert float(dead[0]) == pytest.approx(2.0)
    assert float(dead[1]) > 2.0


def measured(
    h: Tensor, factor: Tensor, target: Tensor, count: int, ridge: float, noise: float, trials: int
) -> np.ndarray:
    """Exact errors of ``trials`` regressions: the predictor is linear, so each is a quadratic form."""
    g = torch.Generator().manual_seed(count)
    L = h.shape[-1]
    errors = []
    for _ in range(trials):
        x = torch.randn(count, L, generator=g, dtype=torch.float64) @ factor.mT
        y = x @ target + noise**0.5 * torch.randn(count, generator=g, dtype=torch.float64)
        w = kernel_regression(h, x, y, torch.eye(L), ridge)
        errors.append(float((factor.mT @ (w - target)).square().sum()))
    return np.asarray(errors)


@pytest.mark.parametrize(("ridge", "noise"), [(0.0, 0.0), (0.0, 0.3), (0.02, 0.3)])
@pytest.mark.parametrize("colour", [0.0, 0.8])
def test_prediction_lies_in_the_measured_band(
    system: System, ridge: float, noise: float, colour: float
) -> None:
    L, trials = 64, 60
    h = system(5, L, slowest=6.0)
    sigma = torch.from_numpy(scipy.linalg.toeplitz(colour ** np.arange(L)))
    target = torch.cos(0.9 * torch.arange(L, dtype=torch.float64)) / L**0.5
    population = population_spectrum(h, sigma, sigma @ target)
    sizes = [2, 4, 8, 16, 32, 48, 96, 160]
    predicted = predicted_learning_curve(population.eta, population.weights, sizes, ridge, noise).numpy()
    factor = torch.linalg.cholesky(sigma)
    runs = [measured(h, factor, target, count, ridge, noise, trials) for count in sizes]
    floor = 1e-12 * float(target @ sigma @ target)  # without noise and ridge P >= L leaves rounding alone
    inside = [
        np.quantile(r, 0.025) - floor <= p <= np.quantile(r, 0.975) + floor
        for r, p in zip(runs, predicted, strict=True)
    ]
    assert np.mean(inside) >= 7 / 8
    means = np.array([r.mean() for r in runs])
    np.testing.assert_allclose(predicted, means, rtol=0.15, atol=floor)


def test_the_systems_own_spectrum_is_wrong_for_coloured_inputs(system: System) -> None:
    L = 64
    h, sigma = system(5, L, slowest=6.0), torch.from_numpy(scipy.linalg.toeplitz(0.95 ** np.arange(L)))
    target = torch.cos(0.9 * torch.arange(L, dtype=torch.float64)) / L**0.5
    eta, v = kernel_spectrum(h)
    naive = predicted_learning_curve(eta, mode_weights(v, sigma @ target), [24], 0.02, 0.1)
    right = population_spectrum(h, sigma, sigma @ target)
    predicted = predicted_learning_curve(right.eta, right.weights, [24], 0.02, 0.1)
    runs = measured(h, torch.linalg.cholesky(sigma), target, 24, 0.02, 0.1, 40)
    assert np.quantile(runs, 0.025) <= float(predicted) <= np.quantile(runs, 0.975)
    assert not np.quantile(runs, 0.025) <= float(naive) <= np.quantile(runs, 0.975)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([1.0, 2.0], [1.0], [3]), "equal shapes"),
        (([0.0, 0.0], [1.0, 1.0], [3]), "some eta above 0"),
        (([1.0, -1.0], [1.0, 1.0], [3]), "minimum -1"),
        (([1.0], [1.0], [-3]), "sizes"),
        (([1.0], [1.0], [3], -0.1), "ridge=-0.1"),
        (([1.0], [1.0], [3], 0.1, float("nan")), "noise=nan"),
        (([1.0], [float("nan")], [3]), "NaN"),
    ],
)
def test_bad_input(arguments: tuple[object, ...], says: str) -> None:
    with pytest.raises(DataError, match=says):
        predicted_learning_curve(*arguments)  # type: ignore[arg-type]
