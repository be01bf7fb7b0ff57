"""Each statistic against an independent computation of the same formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import signal
from sklearn.feature_selection import f_classif

from tdi_plugin.spectrum import (
    cross_spectrum,
    fisher_log_power,
    log_power,
    power_spectrum,
    task_spectrum,
)

Make = Callable[..., tuple[np.ndarray, np.ndarray]]


@pytest.mark.parametrize("length", [60, 61])
def test_fisher_is_the_f_statistic_of_log_power(make_series: Make, length: int) -> None:
    x, y = make_series(length=length)
    ratio = f_classif(log_power(x).numpy(), y)[0]
    ours = fisher_log_power(x, y, within_floor=0.0).power.numpy()
    np.testing.assert_allclose(ours, ratio * 2 / (len(y) - 3), rtol=1e-9)


def test_log_power_is_the_log_of_numpys_periodogram(make_series: Make) -> None:
    x, _ = make_series()
    power = np.abs(np.fft.rfft(x)) ** 2
    np.testing.assert_allclose(
        log_power(x, power_floor=1e-3).numpy(),
        np.log((power + 1e-3 * power[:, 1:].mean(1, keepdims=True)) / x.shape[1]),
    )


def test_cross_of_classes_is_the_spectrum_of_the_dense_covariance(make_series: Make) -> None:
    x, y = make_series()
    target = np.eye(3)[y]
    covariance = (x - x.mean(0)).T @ (target - target.mean(0)) / len(y)
    expected = (np.abs(np.fft.rfft(covariance, axis=0)) ** 2).mean(1)
    np.testing.assert_allclose(cross_spectrum(x, y).power.numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("columns", [(), (1,), (4,)])
def test_cross_of_real_targets_is_the_spectrum_of_the_dense_covariance(
    make_series: Make, columns: tuple[int, ...]
) -> None:
    x, _ = make_series()
    y = np.random.default_rng(1).normal(loc=1e3, size=(len(x), *columns))
    flat = y.reshape(len(x), -1)
    covariance = (x - x.mean(0)).T @ (flat - flat.mean(0)) / len(y)
    expected = (np.abs(np.fft.rfft(covariance, axis=0)) ** 2).mean(1)
    np.testing.assert_allclose(cross_spectrum(x, y).power.numpy(), expected, rtol=1e-7)


@pytest.mark.parametrize("length", [60, 61])
def test_power_is_scipys_periodogram_without_doubled_bins(make_series: Make, length: int) -> None:
    x, _ = make_series(length=length)
    expected = signal.periodogram(x, detrend=False)[1].mean(0)
    expected[1 : (length + 1) // 2] /= 2
    np.testing.assert_allclose(power_spectrum(x).power.numpy(), expected, rtol=1e-9)


def test_combined_is_the_mean_of_the_two_densities(make_series: Make) -> None:
    x, y = make_series()
    expected = (fisher_log_power(x, y).density + cross_spectrum(x, y).density) / 2
    torch.testing.assert_close(task_spectrum(x, y, "combined").density, expected)


def test_shrinkage_adds_pooled_variance_to_each_class(make_series: Make) -> None:
    x, y = make_series(rows=40)
    x, y = x[:7], np.array([0, 0, 0, 0, 1, 1, 2])
    z = log_power(x).numpy()
    groups = [z[y == c] for c in range(3)]
    pooled = sum(((g - g.mean(0)) ** 2).sum(0) for g in groups) / (7 - 3)
    shrunk = sum(((g - g.mean(0)) ** 2).sum(0) * len(g) / (len(g) + 2) / 7 for g in groups)
    shrunk += sum(2 * pooled * len(g) / (len(g) + 2) / 7 for g in groups)
    between = sum(len(g) / 7 * (g.mean(0) - z.mean(0)) ** 2 for g in groups)
    ours = fisher_log_power(x, y, shrinkage=2.0, within_floor=0.5).power.numpy()
    np.testing.assert_allclose(ours, between / (shrunk + 0.5), rtol=1e-9)


@pytest.mark.parametrize("real", [False, True])
def test_single_precision_far_from_zero_keeps_its_digits(make_series: Make, real: bool) -> None:
    x, y = make_series(rows=300)
    single = (1000.0 + x).astype(np.float32)
    target = np.random.default_rng(0).normal(loc=50, size=(300, 2)) if real else y
    exact = cross_spectrum(single.astype(np.float64), target).power[1:]
    torch.testing.assert_close(cross_spectrum(single, target).power[1:], exact, rtol=1e-4, atol=0)
