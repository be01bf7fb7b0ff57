"""What shared rows of poles ask for, and how wide the resonances are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tdi_plugin.errors import OptionError
from tdi_plugin.poles import constant_damping, group_mean, spread_damping, width_damping
from tdi_plugin.poles.tying import is_uneven

DT = torch.tensor([[0.001], [0.02], [0.1], [0.02], [0.01], [0.02]], dtype=torch.float64)


def test_group_mean_is_geometric_over_channels_of_a_row():
    mean = group_mean(DT, 2)
    assert mean[0, 0].item() == pytest.approx((0.001 * 0.1 * 0.01) ** (1 / 3))
    assert mean[1, 0].item() == 0.02
    assert is_uneven(DT, 2)
    assert not is_uneven(DT, 6)


def test_damping_is_spread_over_the_decays_that_were_there():
    rows, pairs = 2, 40
    gamma = torch.full((rows, pairs), 0.5, dtype=torch.float64)
    damping = spread_damping(gamma, DT, rows)
    ordered = np.sort(np.log(DT.numpy()[:, 0].reshape(3, 2)), axis=0)
    for row in range(rows):
        expected = np.exp(np.quantile(ordered[:, row], (np.arange(pairs) + 0.5) / pairs))
        np.testing.assert_allclose(np.sort(damping[row].numpy()), 0.5 * expected, rtol=1e-9)
    position = np.corrcoef(np.arange(pairs), np.log(damping[0].numpy()))[0, 1]
    assert abs(position) < 0.3, "damping does not go with the order of the frequencies"


def test_damping_spreads_a_step_size_per_pair_within_each_pair():
    dt = torch.tensor([[0.1, 0.001], [0.2, 0.004]], dtype=torch.float64)
    damping = spread_damping(torch.full((1, 2), 0.5, dtype=torch.float64), dt, 1)
    assert 0.05 <= damping[0, 0] <= 0.1
    assert 0.0005 <= damping[0, 1] <= 0.002


def test_width_is_that_of_the_nearest_peak():
    length = 4000
    f = torch.arange(length // 2 + 1, dtype=torch.float64) / length
    density = sum(w**2 / ((f - c) ** 2 + w**2) for c, w in ((0.1, 0.002), (0.3, 0.005)))
    damping = width_damping(density, length, torch.tensor([[0.1, 0.11, 0.3, 0.26]]))
    # A Lorentzian of half width w is the power of a resonance with damping 2 pi w per sample.
    expected = 2 * math.pi * np.array([[0.002, 0.002, 0.005, 0.005]])
    np.testing.assert_allclose(damping, expected, rtol=0.02)


def test_a_line_is_as_wide_as_its_bin():
    density = torch.zeros(51, dtype=torch.float64)
    density[10] = 1.0
    assert width_damping(density, 100, torch.tensor([[0.3]])).item() == pytest.approx(math.pi / 100)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), "hots"])
def test_a_constant_must_be_positive(value):
    with pytest.raises(OptionError, match="damping="):
        constant_damping(value, torch.ones(1, 2))
