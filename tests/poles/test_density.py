"""Tempering, flooring, resampling and spacing, against independent forms of the same rules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.poles import allocate, task_mask
from tdi_plugin.poles.density import below, cell_edges, resample_density, shape_density
from tdi_plugin.poles.spacing import spread

power = st.lists(st.floats(0.01, 100), min_size=3, max_size=30)


def density_of(values: list[float]) -> torch.Tensor:
    density = torch.tensor([0.0, *values], dtype=torch.float64)
    return density / density.sum()


@settings(deadline=None)
@given(power, st.floats(0.1, 1), st.floats(0, 1))
def test_temper_then_floor(values, temper, floor):
    density = density_of(values)
    raised = density.numpy()[1:] ** temper
    expected = (1 - floor) * raised / raised.sum() + floor / len(raised)
    np.testing.assert_allclose(shape_density(density, temper, floor)[1:], expected, rtol=1e-9)


def test_a_floor_of_one_is_flat():
    f = allocate(density_of([1.0] + [0.0] * 99), 200, rows=1, pairs=10, floor=1.0)
    np.testing.assert_allclose(f.diff(dim=1), 0.05, atol=1e-3)


@settings(max_examples=50, deadline=None)
@given(power, st.booleans(), st.integers(4, 90))
def test_resampling_keeps_the_mass_under_every_new_edge(values, odd, new_length):
    density = density_of(values)
    length = 2 * len(values) + odd
    resampled = resample_density(density, length, new_length)
    edges, new_edges = cell_edges(length).numpy(), cell_edges(new_length).numpy()
    cumulative = np.interp(new_edges, edges, np.concatenate([[0], np.cumsum(density.numpy()[1:])]))
    assert resampled.sum().item() == pytest.approx(1.0)
    np.testing.assert_allclose(np.cumsum(resampled.numpy()[1:]), cumulative[1:], atol=1e-12)
    np.testing.assert_allclose(resample_density(density, length, length), density, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.001, 0.499), min_size=2, max_size=12),
    st.floats(0.0, 0.4),
)
def test_spacing_is_the_nearest_spaced_set(values, part):
    f = torch.tensor(sorted(values), dtype=torch.float64)[None]
    spacing = part / len(values)
    g = spread(f, spacing)[0]
    assert (g.diff() >= spacing - 1e-12).all()
    assert ((g > 0) & (g < 0.5)).all()
    steps = spacing * np.arange(len(values))
    low = min(spacing / 2, min(values))
    fit = IsotonicRegression(y_min=low, y_max=0.5 * (1 - 1e-5) - spacing * (len(values) - 1))
    nearest = fit.fit_transform(np.arange(len(values)), f[0].numpy() - steps) + steps
    if spacing > 0:
        np.testing.assert_allclose(g, nearest, atol=1e-7)


def test_spacing_parts_repeated_poles():
    f = allocate(density_of([0.0] * 19 + [1.0] + [0.0] * 80), 200, 1, 4, "topk", spacing=0.01)
    np.testing.assert_allclose(f, [[0.085, 0.095, 0.105, 0.115]])


def test_a_spacing_that_does_not_fit_is_refused():
    with pytest.raises(OptionError, match=r"spacing=0\.2 does not fit 3 poles"):
        spread(torch.tensor([[0.1, 0.2, 0.3]]), 0.2)


def test_mass_above_a_limit_is_left_out():
    kept = below(density_of([1.0, 1.0, 1.0, 1.0]), 8, 0.3)
    np.testing.assert_allclose(kept, [0, 0.5, 0.5, 0, 0])
    with pytest.raises(DataError, match=r"no mass below 0\.05"):
        below(density_of([1.0, 1.0, 1.0, 1.0]), 8, 0.05)


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 40), st.floats(0.01, 1), st.sampled_from(["pairs", "rows"]))
def test_share_is_that_part_and_spread_evenly(rows, pairs, share, over):
    mask = task_mask(rows, pairs, share, over)
    line = mask[0] if over == "pairs" else mask[:, 0]
    assert int(line.sum()) == max(1, round(share * line.numel()))
    expected = line.expand(rows, pairs) if over == "pairs" else line[:, None].expand(rows, pairs)
    assert torch.equal(mask, expected)
    gaps = torch.nonzero(line).flatten().diff()
    assert gaps.numel() == 0 or gaps.max() - gaps.min() <= 1


def test_half_the_pairs_leave_the_host_its_lowest():
    assert task_mask(1, 6, 0.5).tolist() == [[False, True] * 3]
    with pytest.raises(OptionError, match="share=0"):
        task_mask(1, 6, 0)
    with pytest.raises(OptionError, match="did you mean 'rows'"):
        task_mask(1, 6, 0.5, "row")
