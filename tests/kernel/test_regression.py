"""Kernel regression against scikit-learn and plain linear algebra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel import induced_kernel, kernel_regression, toeplitz_operator

System = Callable[..., Tensor]


def data(count: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    x, y, new = (
        torch.randn(count, length, generator=g),
        torch.randn(count, 2, generator=g),
        torch.randn(7, length, generator=g),
    )
    return x.double(), y.double(), new.double()


@pytest.mark.parametrize("count", [5, 40])
def test_ridge_agrees_with_scikit_learn(system: System, count: int) -> None:
    h, (x, y, new) = system(0, 20), data(count, 20)
    model = KernelRidge(alpha=0.3, kernel="precomputed").fit(induced_kernel(h, x).numpy(), y.numpy())
    expected = model.predict(induced_kernel(h, new, x).numpy())
    np.testing.assert_allclose(
        kernel_regression(h, x, y, new, ridge=0.3).numpy(), expected, rtol=1e-9, atol=1e-11
    )


def test_without_ridge_it_interpolates_then_fits_least_squares(system: System) -> None:
    h = system(1, 20)
    x, y, _ = data(8, 20)
    torch.testing.assert_close(kernel_regression(h, x, y, x), y, rtol=1e-8, atol=1e-8)
    x, y, new = data(50, 20)
    coefficients = np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(
        kernel_regression(h, x, y, new).numpy(), new.numpy() @ coefficients, rtol=1e-6, atol=1e-8
    )


def test_without_ridge_it_is_the_limit_of_small_ridge_and_of_least_norm(system: System) -> None:
    h, (x, y, new) = system(2, 20), data(8, 20)
    limit = kernel_regression(h, x, y[:, 0], new)
    assert limit.shape == (7,)
    torch.testing.assert_close(
        kernel_regression(h, x, y[:, 0], new, ridge=1e-10), limit, rtol=1e-5, atol=1e-6
    )
    features = toeplitz_operator(h).dense() @ x.numpy().T
    weights = np.linalg.pinv(features.T) @ y[:, 0].numpy()  # least norm in feature space
    np.testing.assert_allclose(
        limit.numpy(), (toeplitz_operator(h).dense() @ new.numpy().T).T @ weights, rtol=1e-7, atol=1e-8
    )


def test_several_channels_average_their_kernels(system: System) -> None:
    h, (x, y, new) = torch.stack([system(s, 20) for s in range(3)]), data(8, 20)
    K = sum(induced_kernel(row, x) for row in h) / 3
    k = sum(induced_kernel(row, new, x) for row in h) / 3
    torch.testing.assert_close(
        kernel_regression(h, x, y, new, 0.1), k @ torch.linalg.solve(K + 0.1 * torch.eye(8), y)
    )


def test_rank_deficient_data(system: System) -> None:
    h, (x, y, new) = system(0, 20), data(8, 20)
    x[3] = x[2]
    with pytest.raises(DataError, match="8 series has numerical rank 7; 8 was expected without ridge"):
        kernel_regression(h, x, y, new)
    assert torch.isfinite(kernel_regression(h, x, y, new, ridge=1e-3)).all()
    with pytest.raises(DataError, match="numerical rank 0"):
        kernel_regression(h, torch.zeros(8, 20), y, new)
    flat = torch.ones(30, 20) * torch.randn(30, 1, generator=torch.Generator().manual_seed(0))
    with pytest.raises(DataError, match="30 series has numerical rank 1; 20 was expected"):
        kernel_regression(h, flat, torch.ones(30), new)


def test_bad_targets_and_ridge(system: System) -> None:
    h, (x, y, new) = system(0, 20), data(8, 20)
    with pytest.raises(DataError, match=r"shape \(7, 2\); \(8,\) or \(8, d\)"):
        kernel_regression(h, x, y[:7], new)
    with pytest.raises(DataError, match=r"test data has shape \(7, 19\)"):
        kernel_regression(h, x, y, new[:, :19])
    for ridge in (-1.0, float("nan")):
        with pytest.raises(DataError, match="ridge"):
            kernel_regression(h, x, y, new, ridge=ridge)
