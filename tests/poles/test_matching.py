"""The closed-form response against the discrete Fourier transform, and the three losses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine as scipy_cosine
from scipy.stats import entropy

from tdi_plugin.errors import OptionError
from tdi_plugin.poles import place, spectral_loss
from tdi_plugin.poles.response import frequency_response, modes


@pytest.mark.parametrize("disc", ["zoh", "bilinear"])
@pytest.mark.parametrize("length", [64, 65])
def test_response_is_the_transform_of_the_first_samples(disc, length):
    own = torch.Generator().manual_seed(0)
    f = 0.01 + 0.48 * torch.rand((2, 3), dtype=torch.float64, generator=own)
    dt = 0.01 + 0.1 * torch.rand((4, 1), dtype=torch.float64, generator=own)
    poles = place(f, torch.full_like(f, 0.02), dt[:2], disc)
    weights = torch.randn((2, 4, 3), dtype=torch.complex128, generator=own)
    log_p, amplitude = modes(poles, dt, weights, disc)
    times = np.arange(length)
    kernel = 2 * np.einsum("chp,hpl->chl", amplitude, np.exp(log_p.numpy()[..., None] * times)).real
    expected = np.fft.rfft(kernel)
    np.testing.assert_allclose(frequency_response(log_p, amplitude, length), expected, atol=1e-10)


def test_losses_are_what_they_are_called():
    own = torch.Generator().manual_seed(0)
    power = torch.rand((3, 5, 30), dtype=torch.float64, generator=own)
    density = torch.rand(30, dtype=torch.float64, generator=own)
    p, q = power.mean((0, 1)).numpy()[1:], density.numpy()[1:]
    p, q = p / p.sum(), q / q.sum()
    expected = {"squared": ((p - q) ** 2).sum(), "cosine": scipy_cosine(p, q), "kl": entropy(q, p)}
    for kind, value in expected.items():
        assert spectral_loss(power, density, kind).item() == pytest.approx(value)
        assert spectral_loss(density, density, kind).item() == pytest.approx(0, abs=1e-12)
    with pytest.raises(OptionError, match="did you mean 'cosine'"):
        spectral_loss(power, density, "cosin")
