"""Alignment both ways, cumulative power, the mismatch score, and what matching the spectrum does to J."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.kernel import (
    alignment,
    cumulative_power,
    frequency_response,
    kernel_spectrum,
    mismatch,
    mode_weights,
)

FIXED = settings(derandomize=True, deadline=None, max_examples=25)
System = Callable[..., Tensor]


@FIXED
@given(
    seed=st.integers(0, 2**20),
    length=st.integers(2, 96),
    targets=st.integers(1, 3),
    channels=st.integers(1, 3),
)
def test_alignment_is_the_same_both_ways(
    system: System, seed: int, length: int, targets: int, channels: int
) -> None:
    h = torch.stack([system(seed + c, length) for c in range(channels)])
    C = torch.randn(length, targets, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    dense = [scipy.linalg.toeplitz(row, np.zeros(length)) @ C.numpy() for row in h.numpy()]
    expected = np.square(dense).sum() / length / channels
    assert alignment(h, C) == pytest.approx(expected, rel=1e-10)
    assert alignment(h, C, method="modes") == pytest.approx(expected, rel=1e-10)
    ratio = expected / float(kernel_spectrum(h).eta.sum())
    assert alignment(h, C, normalise=True) == pytest.approx(ratio, rel=1e-10)
    assert alignment(3.0 * h, C, normalise=True) == pytest.approx(ratio, rel=1e-10)


def test_cumulative_power_and_its_area() -> None:
    curve, area = cumulative_power([3.0, 0.0, 1.0])
    torch.testing.assert_close(curve, torch.tensor([0.75, 0.75, 1.0], dtype=torch.float64))
    assert area == pytest.approx(trapezoid([0.0, 0.75, 0.75, 1.0], dx=1 / 3))
    assert (
        cumulative_power([1.0, 0.0]).area
        > cumulative_power([0.5, 0.5]).area
        > cumulative_power([0.0, 1.0]).area
    )
    assert cumulative_power([3.0], total=4.0).curve.tolist() == [0.75]


def test_cumulative_power_reaches_one_by_parseval(system: System) -> None:
    C = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weights = mode_weights(kernel_spectrum(system(0, 50)).v, C)
    assert float(weights.sum()) == pytest.approx(float(C.square().sum()), rel=1e-12)


@FIXED
@given(seed=st.integers(0, 2**20), length=st.integers(4, 200), gain=st.floats(1e-6, 1e6))
def test_mismatch_is_the_alignment_that_is_missing(seed: int, length: int, gain: float) -> None:
    g = torch.Generator().manual_seed(seed)
    h, task = torch.randn(2, length, generator=g, dtype=torch.float64)
    h, task = h - h.mean(), task - task.mean()
    spectrum = torch.fft.rfft(task).abs().square()
    matched = torch.fft.irfft(spectrum.sqrt(), length)  # |H|^2 is the task's spectrum

    def circular(h: Tensor) -> float:
        wrapped = scipy.linalg.circulant(h.numpy()) @ task.numpy()
        return float(np.square(wrapped).sum() / np.square(h.numpy()).sum())

    if length % 2:  # at even L the bin of frequency 1/2 stands once in the circle and counts once here
        expected = max(0.0, 1 - circular(h) / circular(matched))
        assert mismatch(frequency_response(h, length), spectrum) == pytest.approx(expected, abs=1e-9)
    score = mismatch(frequency_response(h, length), spectrum)
    assert 0 <= score <= 1
    assert mismatch(frequency_response(gain * h, length), gain * spectrum) == pytest.approx(score, abs=1e-9)
    assert mismatch(spectrum * gain, spectrum) == pytest.approx(0, abs=1e-12)


def test_mismatch_extremes_and_forms() -> None:
    low, high = torch.tensor([5.0, 1.0, 1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 0.0, 1.0, 3.0])
    assert mismatch(low, high) == 1.0
    H = torch.fft.rfft(torch.randn(3, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64))
    assert mismatch(torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0]), high) == 0.0
    assert 0.0 < mismatch(torch.ones(5), high) < 1.0
    assert mismatch(H, high) == pytest.approx(mismatch(H.abs().square(), high))


def test_a_response_at_the_tasks_frequency_has_less_mismatch_and_more_alignment() -> None:
    L, f = 128, 0.2
    task = torch.cos(2 * torch.pi * f * torch.arange(L, dtype=torch.float64)) * torch.hann_window(L)
    spectrum = torch.fft.rfft(task).abs().square()
    near, far = (
        0.9 ** torch.arange(L, dtype=torch.float64) * torch.cos(2 * torch.pi * g * torch.arange(L))
        for g in (f, 0.4)
    )
    assert mismatch(frequency_response(near, L), spectrum) < mismatch(frequency_response(far, L), spectrum)
    assert alignment(near, task, normalise=True) > alignment(far, task, normalise=True)


@FIXED
@given(seed=st.integers(0, 2**20), bins=st.integers(2, 60))
def test_matching_the_spectrum_is_not_maximising_alignment(seed: int, bins: int) -> None:
    """On the circulant model J / sum(eta) = <p, s>: ||s||^2 at p = s, and more on the largest bin alone."""
    g = torch.Generator().manual_seed(seed)
    s, p = torch.rand(2, bins, generator=g, dtype=torch.float64)
    s, p = s / s.sum(), p / p.sum()
    one = torch.nn.functional.one_hot(s.argmax(), bins).double()
    assert p @ s <= one @ s
    assert s @ s < one @ s
    # what is true: among spectra of one concentration ||p||, the matched shape has the largest J
    assert p @ s <= p.norm() * s.norm() * (1 + 1e-12)
    # and J follows the loss exactly, up to that concentration
    loss = (p - s).square().sum()
    assert float(p @ s) == pytest.approx(float((p @ p + s @ s - loss) / 2), rel=1e-9)


def test_bad_input() -> None:
    h = torch.ones(6)
    with pytest.raises(DataError, match=r"shape \(5, 1\); \(6,\) or \(6, d\) was expected"):
        alignment(h, torch.ones(5))
    with pytest.raises(DataError, match="1 NaN"):
        alignment(h, torch.tensor([1.0, 1, 1, 1, 1, torch.nan]))
    with pytest.raises(DataError, match="zero everywhere"):
        alignment(torch.zeros(6), torch.ones(6), normalise=True)
    with pytest.raises(OptionError, match="did you mean 'modes'"):
        alignment(h, torch.ones(6), method="mode")
    with pytest.raises(DataError, match=r"shape \(5, 1\)"):
        mode_weights(torch.eye(6), torch.ones(5))
    with pytest.raises(DataError, match="sum to 0"):
        cumulative_power([0.0, 0.0])
    with pytest.raises(DataError, match="minimum -1"):
        cumulative_power([1.0, -1.0])
    with pytest.raises(DataError, match="4 frequencies and the task spectrum 5"):
        mismatch(torch.ones(4), torch.ones(5))
    with pytest.raises(DataError, match="no power off DC"):
        mismatch(torch.tensor([1.0, 0.0]), torch.ones(2))
