"""Smoothed periodograms against SciPy's, and against plain loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import signal

from tdi_plugin.spectrum import cross_spectrum, fisher_log_power, log_power, power_spectrum
from tdi_plugin.spectrum.smoothing import Smoothing

Make = Callable[..., tuple[np.ndarray, np.ndarray]]


def power(series: np.ndarray, smoothing: str, lengths: np.ndarray | None = None) -> np.ndarray:
    smooth = Smoothing.of(smoothing)
    assert smooth is not None
    given = None if lengths is None else torch.from_numpy(lengths)
    return smooth.power(torch.from_numpy(series)[:, None], given)[:, 0].numpy()


@pytest.mark.parametrize(("length", "segment"), [(60, 15), (61, 16), (61, 61), (64, 100)])
def test_welch_is_scipys_on_the_full_grid(make_series: Make, length: int, segment: int) -> None:
    x, _ = make_series(length=length)
    used = min(segment, length)
    expected = signal.welch(
        x - x.mean(1, keepdims=True), nperseg=used, noverlap=used - used // 2, nfft=length, detrend=False
    )[1]
    expected[:, 1 : (length + 1) // 2] /= 2
    np.testing.assert_allclose(power(x, f"welch:{segment}"), expected * length, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("product", [1.0, 2.5, 4.0])
def test_multitaper_is_the_mean_over_scipys_tapers(make_series: Make, product: float) -> None:
    x, _ = make_series()
    centred = x - x.mean(1, keepdims=True)
    tapers = signal.windows.dpss(61, product, Kmax=int(2 * product) - 1)
    expected = np.mean([np.abs(np.fft.rfft(centred * taper)) ** 2 for taper in tapers], axis=0) * 61
    np.testing.assert_allclose(power(x, f"multitaper:{product}"), expected, rtol=1e-9)


def test_moving_average_stays_clear_of_dc(make_series: Make) -> None:
    x, _ = make_series()
    plain = np.abs(np.fft.rfft(x + 1e3)) ** 2
    smoothed = power(x + 1e3, "moving:5")
    np.testing.assert_allclose(smoothed[:, 0], plain[:, 0])
    for k in (1, 2, 7, 29, 30):
        np.testing.assert_allclose(smoothed[:, k], plain[:, max(k - 2, 1) : k + 3].mean(1), rtol=1e-6)


@pytest.mark.parametrize("smoothing", ["welch", "welch:20", "multitaper", "moving"])
def test_unequal_lengths_are_smoothed_within_their_valid_part(make_series: Make, smoothing: str) -> None:
    x, y = make_series(rows=12)
    lengths = np.array([61, 2, 3, 4, 9, 30, 30, 30, 45, 60, 61, 20])
    found = log_power(x, lengths=lengths, smoothing=smoothing)
    for row, length in enumerate(lengths):
        alone = np.full((1, 61), np.nan)
        alone[0, :length] = x[row, :length]
        one = log_power(
            np.where(np.isnan(alone), 0, alone), lengths=lengths[row : row + 1], smoothing=smoothing
        )
        torch.testing.assert_close(found[row], one[0], rtol=1e-9, atol=1e-9)
    assert torch.isfinite(fisher_log_power(x, y, lengths=lengths, smoothing=smoothing).power).all()


@pytest.mark.parametrize("smoothing", ["welch", "multitaper", "moving:5"])
def test_white_noise_keeps_its_level_and_loses_its_scatter(smoothing: str) -> None:
    x = np.random.default_rng(0).normal(size=(400, 128))
    smoothed = power(x, smoothing)[:, 5:60]
    plain = np.abs(np.fft.rfft(x))[:, 5:60] ** 2
    assert abs(smoothed.mean() / 128 - 1) < 0.03
    assert smoothed.std() < 0.7 * plain.std()


@pytest.mark.parametrize("smoothing", ["welch:30", "multitaper:2", "moving:3"])
def test_smoothing_brings_few_series_nearer_to_many(smoothing: str) -> None:
    rng = np.random.default_rng(0)

    def noise(rows: int) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(rows) % 2
        x = rng.normal(size=(rows, 120))
        narrow = signal.lfilter([1], [1, -1.2, 0.9], rng.normal(size=(rows, 120)))
        return x + 0.8 * y[:, None] * narrow, y

    truth = fisher_log_power(*noise(6000)).density
    plain, smooth = 0.0, 0.0
    for _ in range(10):
        x, y = noise(12)
        plain += float((fisher_log_power(x, y).density - truth).abs().sum())
        smooth += float((fisher_log_power(x, y, smoothing=smoothing).density - truth).abs().sum())
    assert smooth < plain


def test_smoothing_reaches_every_statistic(make_series: Make) -> None:
    x, y = make_series()
    for measure in (fisher_log_power, cross_spectrum, lambda x, y, **o: power_spectrum(x, **o)):
        rough = measure(x, y).density[1:].diff().abs().sum()
        assert measure(x, y, smoothing="moving:9").density[1:].diff().abs().sum() < 0.7 * rough
