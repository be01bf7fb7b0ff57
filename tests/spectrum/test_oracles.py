"""Each statistic against an independent computation of the same formula."""

from __future__ import annotations

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


def series(
    rows: int = 90, length: int = 61, classes: int = 3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Noise whose colour and mean wave depend on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    time = np.arange(length)
    x = rng.normal(size=(rows, length))
    x += (1.0 + y)[:, None] * np.sin(2 * np.pi * 0.1 * time + rng.uniform(0, 6, (rows, 1)))
    x += y[:, None] * np.cos(2 * np.pi * 0.3 * time)
    return x, y


@pytest.mark.parametrize("length", [60, 61])
def test_fisher_is_the_f_statistic_of_log_power(length: int) -> None:
    x, y = series(length=length)
    ratio = f_classif(log_power(x).numpy(), y)[0]
    ours = fisher_log_power(x, y, within_floor=0.0).power.numpy()
    np.testing.assert_allclose(ours, ratio * 2 / (len(y) - 3), rtol=1e-9)


def test_log_power_is_the_log_of_numpys_periodogram() -> None:
    x, _ = series()
    power = np.abs(np.fft.rfft(x)) ** 2
    np.testing.assert_allclose(
        log_power(x, power_floor=1e-3).numpy(), np.log(power + 1e-3 * power.mean(1, keepdims=True))
    )


def test_cross_of_classes_is_the_spectrum_of_the_dense_covariance() -> None:
    x, y = series()
    target = np.eye(3)[y]
    covariance = (x - x.mean(0)).T @ (target - target.mean(0)) / len(y)
    expected = (np.abs(np.fft.rfft(covariance, axis=0)) ** 2).mean(1)
    np.testing.assert_allclose(cross_spectrum(x, y).power.numpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("columns", [(), (1,), (4,)])
def test_cross_of_real_targets_is_the_spectrum_of_the_dense_covariance(columns: tuple[int, ...]) -> None:
    x, _ = series()
    y = np.random.default_rng(1).normal(loc=1e3, size=(len(x), *columns))
    flat = y.reshape(len(x), -1)
    covariance = (x - x.mean(0)).T @ (flat - flat.mean(0)) / len(y)
    expected = (np.abs(np.fft.rfft(covariance, axis=0)) ** 2).mean(1)
    np.testing.assert_allclose(cross_spectrum(x, y).power.numpy(), expected, rtol=1e-7)


@pytest.mark.parametrize("length", [60, 61])
def test_power_is_scipys_periodogram_without_doubled_bins(length: int) -> None:
    x, _ = series(length=length)
    expected = signal.periodogram(x, detrend=False)[1].mean(0)
    expected[1 : (length + 1) // 2] /= 2
    np.testing.assert_allclose(power_spectrum(x).power.numpy(), expected, rtol=1e-9)


def test_combined_is_the_mean_of_the_two_densities() -> None:
    x, y = series()
    expected = (fisher_log_power(x, y).density + cross_spectrum(x, y).density) / 2
    torch.testing.assert_close(task_spectrum(x, y, "combined").density, expected)
