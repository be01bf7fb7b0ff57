"""The permutation null: p-values that mean what they say, found by one matrix product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats

from tdi_plugin.spectrum import cross_spectrum, fisher_log_power, task_spectrum
from tdi_plugin.spectrum.batch import make_batch
from tdi_plugin.spectrum.cross import Cross
from tdi_plugin.spectrum.fisher import Fisher
from tdi_plugin.spectrum.permutation import null_spectra, shuffled_orders

Make = Callable[..., tuple[np.ndarray, np.ndarray]]


@pytest.mark.parametrize(
    ("statistic", "channels", "real"),
    [
        ("fisher", 0, False),
        ("fisher", 2, False),
        ("cross", 0, False),
        ("cross", 2, False),
        ("cross", 2, True),
    ],
)
def test_each_row_of_the_null_is_the_statistic_of_shuffled_labels(
    make_series: Make, statistic: str, channels: int, real: bool
) -> None:
    x, y = make_series(rows=30, channels=channels)
    y = np.random.default_rng(0).normal(size=(30, 2)) if real else y
    wanted = Fisher() if statistic == "fisher" else Cross()
    (null,) = null_spectra([wanted], make_batch(x), torch.from_numpy(y), 4, seed=3)
    orders = torch.cat(list(shuffled_orders(30, 4, 3, 1)))
    assert orders[0].tolist() == list(range(30))
    masses: list[float] = []
    for row, order in zip(null, orders, strict=True):
        expected = task_spectrum(x, y[order.numpy()], statistic).power
        mass = row.double()[1:].sum() / expected[1:].sum()
        masses.append(float(mass))
        torch.testing.assert_close(row.double()[1:] / mass, expected[1:], rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(masses, masses[0], rtol=1e-3)


def test_parts_of_the_product_give_what_one_product_gives(
    make_series: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = make_series()
    whole = fisher_log_power(x, y, permutations=50)
    monkeypatch.setattr("tdi_plugin.spectrum.permutation.PRODUCT_BYTES", 10_000)
    parts = fisher_log_power(x, y, permutations=50)
    assert whole.p_values is not None
    assert parts.p_values is not None
    torch.testing.assert_close(parts.p_values, whole.p_values)


def test_waves_that_carry_labels_are_significant_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    y, time = np.arange(60) % 2, np.arange(100)
    x = rng.normal(size=(60, 100)) + y[:, None] * 1.5 * np.cos(2 * np.pi * 0.2 * time)
    for statistic in ("cross", "fisher", "combined"):
        found = task_spectrum(x, y, statistic, permutations=200)
        assert found.significant is not None
        assert found.band is not None
        assert found.p_values is not None
        assert found.significant[20]
        assert found.significant.sum() <= 2
        assert found.p_value == found.p_values[20] == pytest.approx(1 / 201)
        assert not found.significant[0]
        assert found.power[20] > 2 * found.band[20]
        assert (found.power[1:] > found.band[1:]).double().mean() < 0.25


@pytest.mark.parametrize("measure", [fisher_log_power, cross_spectrum])
def test_p_values_are_uniform_under_the_null(measure: Callable) -> None:
    p_values = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        colour = np.cumsum(rng.normal(size=(20, 40)), axis=1)
        labels = rng.permutation(np.arange(20) % 2)
        p_values.append(measure(colour, labels, permutations=99, seed=seed).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) <= 0.05) < 0.12


def test_seeds_repeat_and_differ(make_series: Make) -> None:
    x, y = make_series()
    one, two, other = (fisher_log_power(x, y, permutations=30, seed=s).p_values for s in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    state = torch.get_rng_state()
    task_spectrum(x, y, permutations=10)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_sample_stands_in_for_many_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdi_plugin.spectrum.sample.MOST_SERIES", 100)
    rng = np.random.default_rng(0)
    y, time = np.arange(900) % 2, np.arange(50)
    x = rng.normal(size=(900, 50)) + y[:, None] * np.cos(2 * np.pi * 0.2 * time)
    found = cross_spectrum(x, y, permutations=99)
    assert found.n_series == 900
    assert found.p_value == pytest.approx(0.01)
    assert found.band is None


@pytest.mark.parametrize("measure", [fisher_log_power, cross_spectrum])
def test_units_of_the_data_do_not_matter(make_series: Make, measure: Callable) -> None:
    x, y = make_series(rows=40)
    expected = measure(x, y, permutations=20)
    for scale in (1e-40, 1e30):
        found = measure(x * scale, y, permutations=20)
        torch.testing.assert_close(found.p_values, expected.p_values)
        torch.testing.assert_close(found.band / found.power.sum(), expected.band / expected.power.sum())


@pytest.mark.parametrize("statistic", ["fisher", "cross", "combined"])
def test_one_frequency_in_twenty_leaves_the_band_by_chance(statistic: str) -> None:
    outside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        found = task_spectrum(rng.normal(size=(40, 101)), np.arange(40) % 2, statistic, permutations=199)
        outside.append(float((found.power[1:] > found.band[1:]).double().mean()))
    assert 0.025 < np.mean(outside) < 0.075
