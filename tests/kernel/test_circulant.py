"""How the eigenvalues approach |H|^2: at what rate, within which bounds, and where they don't."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tdi_plugin.kernel import circulant_bounds, circulant_distance, circulant_spectrum, kernel_spectrum

System = Callable[..., Tensor]
LENGTHS = (64, 128, 256, 512, 1024)


def test_circulant_spectrum_is_that_of_the_circulant_matrix(system: System) -> None:
    h = system(0, 31)
    C = scipy.linalg.circulant(h.numpy())
    expected = np.linalg.eigvalsh(C.T @ C / 31)
    np.testing.assert_allclose(circulant_spectrum(h).sort().values.numpy(), expected, rtol=1e-9, atol=1e-12)
    assert float(circulant_spectrum(h).sum()) == pytest.approx(float(h.square().sum()), rel=1e-12)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(seed=st.integers(0, 2**20), pairs=st.integers(1, 6))
def test_mean_sorted_error_falls_like_one_over_length(system: System, seed: int, pairs: int) -> None:
    h = system(seed, LENGTHS[-1], pairs=pairs, slowest=LENGTHS[0] / 8)
    distance = circulant_distance(h, LENGTHS).numpy()
    slope = np.polyfit(np.log(LENGTHS), np.log(distance), 1)[0]
    assert slope <= -0.8


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**20),
    length=st.integers(2, 90),
    slowest=st.floats(0.5, 500),
    channels=st.integers(1, 3),
)
def test_bounds_hold_at_every_length(
    system: System, seed: int, length: int, slowest: float, channels: int
) -> None:
    h = torch.stack([system(seed + c, length, slowest=slowest) for c in range(channels)])
    low, high = circulant_bounds(h)
    assert low * (1 - 1e-9) <= float(circulant_distance(h)) <= high * (1 + 1e-9)
    gap = (circulant_spectrum(h).sum() - kernel_spectrum(h).eta.sum()) / circulant_spectrum(h).sum()
    assert low == pytest.approx(float(gap), rel=1e-6, abs=1e-12)


def test_largest_error_needs_not_vanish() -> None:
    # the zero of 1 - 2/z lies outside the unit circle: the inverse of T_h grows without bound, |H| >= 1
    for length in (16, 32, 48):
        h = torch.zeros(length, dtype=torch.float64)
        h[:2] = torch.tensor([1.0, -2.0])
        smallest = float(kernel_spectrum(h).eta[-1] * length)
        assert smallest < 4.0 ** (1 - length) * 4
        assert float((circulant_spectrum(h) * length).min()) >= 1.0 - 1e-12
    assert float(circulant_distance(h)) < 0.1


def test_error_needs_not_fall_at_every_step() -> None:
    z = torch.exp(torch.tensor([-1 / 40 + 2j * torch.pi * 0.1], dtype=torch.complex128))
    distance = circulant_distance(impulse_response_of(z, 256), range(40, 120, 4))
    assert (distance.diff() > 0).any()
    assert float(distance[-1]) < float(distance[0])


def impulse_response_of(z: Tensor, length: int) -> Tensor:
    return 2 * (z[:, None] ** torch.arange(length)).sum(0).real
