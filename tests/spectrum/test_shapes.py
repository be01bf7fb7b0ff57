"""Channels, unequal lengths, types and places that data come in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tdi_plugin.data import load_series
from tdi_plugin.errors import DataError
from tdi_plugin.spectrum import (
    CrossSpectrum,
    FisherLogPower,
    TaskSpectrum,
    cross_spectrum,
    fisher_log_power,
    power_spectrum,
    task_spectrum,
)
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.spectrum.log_power import POWER_FLOOR

Make = Callable[..., tuple[np.ndarray, np.ndarray]]
Measure = Callable[..., TaskSpectrum]
STATISTICS = ("fisher", "cross", "combined", "power")


@pytest.mark.parametrize("statistic", STATISTICS)
def test_channels_are_measured_alone_and_averaged(make_series: Make, statistic: str) -> None:
    x, y = make_series(channels=3)
    found = task_spectrum(x, y, statistic)
    assert found.channels is not None
    torch.testing.assert_close(found.power, found.channels.mean(dim=0), rtol=1e-12, atol=0)
    if statistic != "combined":
        for d in range(3):
            alone = task_spectrum(x[..., d], y, statistic)
            torch.testing.assert_close(found.channels[d], alone.power, rtol=1e-9, atol=0)
            assert alone.channels is None


def padded(x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    x = x.copy()
    for row, length in enumerate(lengths):
        x[row, length:] = np.nan
    return x


def prepared(x: np.ndarray) -> list[np.ndarray]:
    """Series by series: the valid part less its mean, on the common grid, its power per valid sample."""
    out = []
    for series in x:
        valid = series[~np.isnan(series)]
        grid = np.zeros(len(series))
        grid[: len(valid)] = (valid - valid.mean()) / np.sqrt(len(valid))
        out.append(grid)
    return out


def reference(x: np.ndarray, y: np.ndarray, statistic: str) -> np.ndarray:
    """The three statistics of NaN-padded (n, L), one series after the other."""
    waves = prepared(x)
    classes = sorted(set(y.tolist()))
    power = [np.abs(np.fft.rfft(wave)) ** 2 for wave in waves]
    if statistic == "power":
        return np.mean(power, axis=0)
    if statistic == "cross":
        total = 0.0
        for c in classes:
            covariance = sum(
                (wave - np.mean(waves, axis=0)) * (float(label == c) - np.mean(y == c))
                for wave, label in zip(waves, y, strict=True)
            ) / len(y)
            total = total + np.abs(np.fft.rfft(covariance)) ** 2
        return total / len(classes)
    z = [np.log(p + POWER_FLOOR * p[1:].mean()) for p in power]
    between, within = 0.0, 0.0
    for c in classes:
        own = [value for value, label in zip(z, y, strict=True) if label == c]
        between = between + len(own) / len(y) * (np.mean(own, axis=0) - np.mean(z, axis=0)) ** 2
        within = within + len(own) / len(y) * np.var(own, axis=0)
    return between / (within + 1e-3)


@pytest.mark.parametrize("statistic", ["fisher", "cross", "power"])
def test_unequal_lengths_follow_the_rule_series_by_series(make_series: Make, statistic: str) -> None:
    x, y = make_series(rows=30)
    lengths = np.random.default_rng(0).integers(20, 62, size=30)
    by_nan = task_spectrum(padded(x, lengths), y, statistic)
    np.testing.assert_allclose(by_nan.power[1:], reference(padded(x, lengths), y, statistic)[1:], rtol=1e-8)
    garbage = np.where(np.isnan(padded(x, lengths)), 1e6, x)
    by_lengths = task_spectrum(garbage, y, statistic, lengths=lengths)
    torch.testing.assert_close(by_lengths.power, by_nan.power, rtol=1e-12, atol=0)


@pytest.mark.parametrize("statistic", ["fisher", "cross", "power"])
def test_nan_padded_gestures_equal_a_loop_over_series(data_path: Path, statistic: str) -> None:
    folder = data_path / "UCRArchive_2018" / "PickupGestureWiimoteZ"
    table = np.loadtxt(folder / "PickupGestureWiimoteZ_TRAIN.tsv")
    y, x = table[:, 0].astype(int), table[:, 1:]
    assert np.isnan(x).any()
    found = task_spectrum(x, y, statistic)
    np.testing.assert_allclose(found.power[1:], reference(x, y, statistic)[1:], rtol=1e-8)


@pytest.mark.parametrize("statistic", ["fisher", "cross", "power"])
def test_vowels_of_twelve_channels_equal_a_loop_over_series(data_path: Path, statistic: str) -> None:
    series = load_series(data_path / "readers" / "aeon_JapaneseVowels_TRAIN.ts")
    assert series.lengths is not None
    assert series.y is not None
    assert series.x.shape[2] == 12
    x, y = series.x.double(), series.y
    found = task_spectrum(x, y, statistic, lengths=series.lengths)
    assert found.channels is not None
    for d in range(12):
        alone = padded(x[..., d].numpy(), series.lengths.numpy())
        expected = reference(alone, y.numpy(), statistic)[1:]
        np.testing.assert_allclose(found.channels[d, 1:], expected, rtol=1e-6)


@pytest.mark.parametrize("statistic", ["fisher", "cross", "power"])
def test_padding_may_appear_late_in_a_stream(make_series: Make, statistic: str) -> None:
    x, y = make_series(rows=30)
    x += 5.0
    x[29, 50:] = np.nan
    batches = [(x[i : i + 10], y[i : i + 10]) for i in (0, 10, 20)]
    found = spectrum_of_batches(iter(batches), statistic)
    np.testing.assert_allclose(found.power[1:], reference(x, y, statistic)[1:], rtol=1e-8)
    assert found.power[0] == 0
    with_evidence = spectrum_of_batches(iter(batches), permutations=9)
    assert with_evidence.scores == task_spectrum(x, y, permutations=9).scores


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64, np.float16, np.float32, np.float64])
def test_types_of_number(dtype: type) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 200, size=(40, 32)), rng.integers(0, 2, 40)
    for measure in (fisher_log_power, cross_spectrum):
        exact = measure(x.astype(np.float64), y).power[1:]
        torch.testing.assert_close(measure(x.astype(dtype), y).power[1:], exact, rtol=2e-4, atol=0)


def test_lists_and_tensors_with_gradients_are_series_too(make_series: Make) -> None:
    x, y = make_series()
    expected = fisher_log_power(x, y).power
    assert torch.equal(fisher_log_power(x.tolist(), y.tolist()).power, expected)
    assert torch.equal(fisher_log_power(torch.tensor(x, requires_grad=True), torch.tensor(y)).power, expected)


def test_memory_mapped_arrays_are_read_in_parts(make_series: Make, tmp_path: Path) -> None:
    x, y = make_series()
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    reads: list[int] = []

    class Watched:
        shape = mapped.shape

        def __len__(self) -> int:
            return len(mapped)

        def __getitem__(self, rows: slice) -> np.ndarray:
            reads.append(len(mapped[rows]))
            return mapped[rows]

    expected = fisher_log_power(x, y).power
    assert torch.equal(fisher_log_power(mapped, y).power, expected)
    assert torch.equal(fisher_log_power(Watched(), y).power, expected)
    assert sum(reads) == 90


def test_long_series_stream_without_being_held() -> None:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(8) % 2
    tone = torch.sin(2 * torch.pi * 0.125 * torch.arange(16000))
    estimators = FisherLogPower(num_classes=2), CrossSpectrum(num_classes=2)
    for _ in range(3):
        x = torch.randn(8, 16000, generator=generator) + 0.2 * y[:, None] * tone
        for estimator in estimators:
            estimator.update(x, y)
    for estimator in estimators:
        found = estimator.compute()
        assert found.frequencies[found.density.argmax()] == 0.125
        held = sum(value.numel() for value in estimator.state_dict().values())
        assert held < 3 * 16000 + 100


def test_power_of_unlabelled_series_needs_no_labels(make_series: Make) -> None:
    x, y = make_series()
    assert torch.equal(power_spectrum(x).power, task_spectrum(x, y, "power").power)
    with pytest.raises(DataError, match="needs labels"):
        task_spectrum(x)
