"""Frequencies and dampings to poles and back, against the discrete systems they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.poles import damping_of, frequencies_of, place
from tdi_plugin.poles.blocks import (
    discrete_blocks,
    poles_of_blocks,
    real_blocks,
    real_input,
    real_output,
)

frequency = st.floats(1e-6, 0.49999)
decay = st.floats(1e-5, 2.0)
step = st.floats(1e-4, 1.0)


def one(value: float) -> torch.Tensor:
    return torch.tensor([[value]], dtype=torch.float64)


@settings(deadline=None)
@given(frequency, decay, step)
def test_zero_order_hold_gives_the_wanted_discrete_pole(f, d, dt):
    A = complex(place(one(f), one(d), one(dt)).item())
    assert np.exp(A * dt) == pytest.approx(np.exp(-d - 2j * np.pi * f), rel=1e-9)
    assert A.real < 0 > A.imag


@settings(deadline=None)
@given(frequency, decay, step)
def test_bilinear_gives_the_same_discrete_pole(f, d, dt):
    z = complex(place(one(f), one(d), one(dt), "bilinear").item()) * dt
    p = np.exp(-d - 2j * np.pi * f)
    # (1 + z/2)/(1 - z/2) = p, without the cancellation near p = -1.
    assert (1 + z / 2) == pytest.approx(p * (1 - z / 2), rel=1e-9, abs=1e-9)
    assert z.real < 0 > z.imag


@settings(deadline=None)
@given(frequency, decay, step, st.sampled_from(["zoh", "bilinear"]))
def test_frequency_and_damping_come_back(f, d, dt, disc):
    A = place(one(f), one(d), one(dt), disc)
    assert frequencies_of(A, one(dt), disc).item() == pytest.approx(f, rel=1e-6)
    assert damping_of(A, one(dt), disc).item() == pytest.approx(d, rel=1e-4)


def test_without_prewarping_a_bilinear_pole_lands_elsewhere():
    A = place(one(0.45), one(0.01), one(0.01))
    assert frequencies_of(A, one(0.01), "bilinear").item() == pytest.approx(0.304, abs=5e-4)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.02, 0.48), st.floats(0.002, 0.05), step, st.sampled_from(["zoh", "bilinear"]))
def test_the_recurrence_peaks_where_it_was_placed(f, d, dt, disc):
    z = complex(place(one(f), one(d), one(dt), disc).item()) * dt
    p = np.exp(z) if disc == "zoh" else (1 + z / 2) / (1 - z / 2)
    length = int(25 / d)
    response = np.abs(np.fft.rfft((p ** np.arange(length)).real, n=1 << 18))
    error = abs(response.argmax() / (1 << 18) - f)
    assert error <= 1 / (1 << 18) + 0.6 * (d / (2 * math.pi)) ** 2 * (1 / f + 1 / (0.5 - f))


@pytest.mark.parametrize("f", [0.0, 0.5, -0.1, 0.7, float("nan")])
def test_frequencies_outside_are_refused(f):
    with pytest.raises(DataError, match="strictly between 0 and 1/2"):
        place(one(f), one(0.1), one(0.1))


def test_other_bad_values_are_refused():
    with pytest.raises(DataError, match="damping holds values"):
        place(one(0.1), one(0.0), one(0.1))
    with pytest.raises(DataError, match="dt holds values"):
        place(one(0.1), one(0.1), one(float("inf")))
    with pytest.raises(OptionError, match="did you mean 'zoh'"):
        place(one(0.1), one(0.1), one(0.1), "zho")


def test_the_guard_holds_poles_below_nyquist_in_float32():
    dt = torch.logspace(-3, -1, 50, dtype=torch.float64)[:, None]
    A = place(torch.full_like(dt, 0.5 - 1e-12), torch.full_like(dt, 0.01), dt)
    turn = dt.to(torch.float32) * -A.imag.to(torch.float32)
    assert (turn < math.pi).all()


@settings(deadline=None)
@given(frequency, decay, step)
def test_real_blocks_have_the_pair_as_eigenvalues(f, d, dt):
    A = place(one(f), one(d), one(dt))
    block = real_blocks(A)[0, 0]
    values = np.linalg.eigvals(block.numpy())
    expected = complex(A.item())
    assert sorted(values.imag) == pytest.approx(sorted([expected.imag, -expected.imag]), rel=1e-9)
    assert values.real == pytest.approx([expected.real] * 2, rel=1e-6, abs=1e-9 * abs(expected))
    assert poles_of_blocks(block).item() == pytest.approx(expected)
    stepped = torch.linalg.matrix_exp(block * dt)
    torch.testing.assert_close(discrete_blocks(A, one(dt))[0, 0], stepped, rtol=1e-6, atol=1e-9)


def test_a_block_responds_as_its_pair():
    A = place(one(0.2), one(0.05), one(0.01))
    b, c = torch.tensor(0.3 - 0.8j, dtype=torch.complex128), torch.tensor(-1.1 + 0.4j, dtype=torch.complex128)
    state, impulse = real_input(b), []
    for _ in range(400):
        impulse.append(float(real_output(c) @ state))
        state = discrete_blocks(A, one(0.01))[0, 0] @ state
    pair = 2 * (c * b * torch.exp(A.flatten() * 0.01 * torch.arange(400))).real
    np.testing.assert_allclose(np.abs(np.fft.rfft(impulse)), np.abs(np.fft.rfft(pair)), rtol=1e-9)
