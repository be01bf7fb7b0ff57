"""Which frequencies a density gives: each rule against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.poles import ALLOCATIONS, allocate
from tdi_plugin.poles.allocation import peak_bins

LENGTH = 200


def bumps(*centres_and_heights: tuple[float, float], length: int = LENGTH) -> torch.Tensor:
    f = torch.arange(length // 2 + 1, dtype=torch.float64) / length
    return sum(h * torch.exp(-(((f - c) / 0.012) ** 2)) for c, h in centres_and_heights)


def mass_below(density: np.ndarray, length: int, frequency: float) -> float:
    """Mass under a frequency when each bin's mass lies evenly over its cell, by brute force."""
    total = below = 0.0
    for k in range(1, length // 2 + 1):
        low, high = (k - 0.5) / length, min((k + 0.5) / length, 0.5)
        total += density[k]
        below += density[k] * np.clip((frequency - low) / (high - low), 0, 1)
    return below / total


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=40).filter(lambda p: sum(p[1:]) > 1e-9),
    st.booleans(),
    st.integers(1, 5),
    st.integers(1, 6),
    st.sampled_from(sorted(ALLOCATIONS)),
    st.floats(0.1, 1.0),
    st.floats(0.0, 1.0),
)
def test_any_density_gives_sorted_frequencies_inside(power, odd, rows, pairs, method, temper, floor):
    length = 2 * (len(power) - 1) + odd
    f = allocate(torch.tensor(power), length, rows, pairs, method, temper, floor)
    assert f.shape == (rows, pairs)
    assert f.dtype == torch.float64
    assert ((f > 0) & (f < 0.5)).all()
    assert (f.diff(dim=1) >= 0).all()


@pytest.mark.parametrize("length", [LENGTH, LENGTH + 1])
def test_quantile_puts_equal_mass_between_neighbours(length):
    density = bumps((0.1, 1.0), (0.3, 0.4), length=length) + 1e-3
    f = allocate(density, length, rows=3, pairs=5)
    levels = [mass_below(density.numpy(), length, x) for x in f.flatten().sort().values.tolist()]
    np.testing.assert_allclose(levels, (np.arange(15) + 0.5) / 15, atol=1e-12)


def test_quantile_interleaves_rows():
    f = allocate(bumps((0.1, 1.0), (0.3, 0.4)), LENGTH, rows=3, pairs=5)
    order = f.flatten().argsort().argsort().view(3, 5)
    assert order.tolist() == [[s + 3 * j for j in range(5)] for s in range(3)]


def test_a_single_line_is_shared_inside_its_bin():
    density = torch.zeros(LENGTH // 2 + 1)
    density[30] = 2.0
    f = allocate(density, LENGTH, rows=2, pairs=4)
    assert ((f - 0.15).abs() < 0.5 / LENGTH).all()
    assert f.unique().numel() == 8


def test_topk_takes_the_largest_bins_of_the_layer():
    density = torch.rand(LENGTH // 2 + 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    density[0], density[-1] = 50.0, 0.0
    f = allocate(density, LENGTH, rows=4, pairs=6, method="topk")
    largest = np.argsort(-density.numpy()[1:-1])[:24] + 1
    np.testing.assert_allclose(np.sort(f.flatten().numpy()), np.sort(largest) / LENGTH)
    strongest = np.isclose(f.numpy(), largest[:4, None, None] / LENGTH).any(0).sum(1)
    assert (strongest == 1).all(), "the four largest bins go to four different rows"


def test_topk_of_more_pairs_than_bins_gives_each_row_the_largest():
    density = torch.zeros(LENGTH // 2 + 1)
    density[[10, 20, 30]] = torch.tensor([3.0, 2.0, 1.0])
    f = allocate(density, LENGTH, rows=3, pairs=2, method="topk")
    np.testing.assert_allclose(f, [[0.05, 0.1]] * 3)
    cycled = allocate(density, LENGTH, rows=1, pairs=4, method="topk")
    np.testing.assert_allclose(cycled, [[0.05, 0.05, 0.1, 0.15]])


def test_topk_at_the_highest_bin_stays_below_one_half():
    density = torch.zeros(LENGTH // 2 + 1)
    density[-1] = 1.0
    assert allocate(density, LENGTH, 1, 1, "topk").item() == pytest.approx(0.5 - 0.25 / LENGTH)


def test_peaks_are_the_prominent_maxima():
    density = bumps((0.1, 1.0), (0.25, 0.5), (0.4, 0.2)) + bumps((0.33, 0.01))
    f = allocate(density, LENGTH, rows=1, pairs=3, method="peaks")
    np.testing.assert_allclose(f, [[0.1, 0.25, 0.4]], atol=1e-9)
    assert allocate(density, LENGTH, 1, 1, "peaks").item() == pytest.approx(0.1)


def test_more_peaks_than_one_row_go_round_the_rows():
    density = bumps((0.1, 1.0), (0.2, 0.8), (0.3, 0.6), (0.4, 0.4))
    f = allocate(density, LENGTH, rows=3, pairs=2, method="peaks")
    np.testing.assert_allclose(f, [[0.1, 0.2], [0.3, 0.4], [0.1, 0.2]], atol=1e-9)


def test_fewer_peaks_than_pairs_are_filled_by_quantiles():
    density = bumps((0.2, 1.0))
    f = allocate(density, LENGTH, rows=2, pairs=3, method="peaks")
    rest = allocate(density, LENGTH, rows=2, pairs=2)
    for row in range(2):
        np.testing.assert_allclose(f[row], sorted([0.2, *rest[row].tolist()]))


def test_the_ends_of_the_spectrum_can_be_peaks():
    density = torch.zeros(LENGTH // 2 + 1, dtype=torch.float64)
    density[1], density[-1] = 1.0, 0.5
    assert peak_bins(density).tolist() == [1, LENGTH // 2]


def test_sample_follows_the_density_and_its_generator_only():
    density = bumps((0.1, 1.0), (0.3, 0.5)) + 1e-3
    torch.manual_seed(3)
    state = torch.get_rng_state()
    draw = [
        allocate(density, LENGTH, 50, 40, "sample", generator=torch.Generator().manual_seed(s))
        for s in (1, 1, 2)
    ]
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(draw[0], draw[1])
    assert not torch.equal(draw[0], draw[2])
    levels = [mass_below(density.numpy(), LENGTH, x) for x in draw[0].flatten()[:500].tolist()]
    everything = [mass_below(density.numpy(), LENGTH, x) for x in draw[0].flatten().tolist()[::4]]
    assert stats.kstest(everything, "uniform").pvalue > 0.01
    assert 0 < min(levels) < max(levels) < 1


BAD = [
    (torch.zeros(101), LENGTH, "zero at every frequency but DC"),
    (torch.full((101,), float("nan")), LENGTH, "NaN"),
    (-torch.ones(101), LENGTH, "negative"),
    (torch.full((101,), 1e308, dtype=torch.float64), LENGTH, "too large"),
    (torch.ones(101), 100, r"\(101,\); expected \(51,\) for length 100"),
]


@pytest.mark.parametrize(("density", "length", "words"), BAD)
def test_bad_densities_are_refused(density, length, words):
    with pytest.raises(DataError, match=words):
        allocate(density, length, 1, 1)


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="did you mean 'quantile'"):
        allocate(torch.ones(101), LENGTH, 1, 1, "quantiles")
    with pytest.raises(OptionError, match="temper=0"):
        allocate(torch.ones(101), LENGTH, 1, 1, temper=0)
    with pytest.raises(OptionError, match="floor=2"):
        allocate(torch.ones(101), LENGTH, 1, 1, floor=2)
    with pytest.raises(DataError, match="2 rows of 0 pole pairs"):
        allocate(torch.ones(101), LENGTH, 2, 0)
