"""FFT convolution against NumPy's, its gradients, and the two-sided form."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tdi_plugin.nn import FFTConv
from tdi_plugin.nn.circular import fast_length, fft_convolve


@pytest.mark.parametrize(("length", "taps"), [(1, 1), (2, 5), (17, 17), (30, 12), (97, 97)])
def test_equals_numpy(length: int, taps: int) -> None:
    draw = np.random.default_rng(0)
    u, kernel = draw.normal(size=(2, 3, length)), draw.normal(size=(2, 3, taps))
    got = fft_convolve(torch.tensor(u), torch.tensor(kernel), fast_length(length + taps)).numpy()
    for b in range(2):
        for c in range(2):
            for h in range(3):
                expected = np.convolve(u[b, h], kernel[c, h])[:length]
                np.testing.assert_allclose(got[b, c, h], expected, atol=1e-12)


@pytest.mark.parametrize(("length", "taps", "n"), [(1, 1, 2), (5, 7, 12), (6, 6, 12), (5, 8, 8)])
def test_gradients(length: int, taps: int, n: int) -> None:
    u = torch.randn(2, 3, length, dtype=torch.float64, requires_grad=True)
    kernel = torch.randn(2, 3, taps, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda u, k: fft_convolve(u, k, n), (u, kernel))
    assert torch.autograd.gradgradcheck(lambda u, k: fft_convolve(u, k, n), (u, kernel))


@pytest.mark.parametrize("shared", ["input", "kernel", "neither"])
def test_vmap_is_a_loop(shared: str) -> None:
    u, kernel = torch.randn(4, 2, 3, 9), torch.randn(4, 1, 3, 9)
    dims = {"input": (None, 0), "kernel": (0, None), "neither": (0, 0)}[shared]
    args = (u[0] if dims[0] is None else u, kernel[0] if dims[1] is None else kernel)
    value = torch.func.vmap(lambda u, k: fft_convolve(u, k, 18), in_dims=dims)(*args)
    for i in range(4):
        single = fft_convolve(u[0 if dims[0] is None else i], kernel[0 if dims[1] is None else i], 18)
        torch.testing.assert_close(value[i], single)


@pytest.mark.parametrize("n", [1, 2, 7, 97, 280, 281, 1021])
def test_fast_lengths_are_small_and_smooth(n: int) -> None:
    size = fast_length(n)
    assert size >= n
    assert size % 2 == 0
    assert size <= max(2, 1.3 * n)
    assert set(_factors(size)) <= {2, 3, 5}


def _factors(n: int) -> list[int]:
    found, d = [], 2
    while n > 1:
        while n % d == 0:
            found.append(d)
            n //= d
        d += 1
    return found


@pytest.mark.parametrize("length", [1, 8, 31])
def test_bidirectional_looks_ahead_from_the_next_sample_on(length: int) -> None:
    torch.manual_seed(0)
    layer = FFTConv(2, d_state=4, bidirectional=True, channels=2).double()
    u = torch.randn(1, 2, length, dtype=torch.float64)
    got = layer(u)[0].unflatten(1, (2, 2))[0].detach().numpy()  # (channels, H, L)
    K = layer.kernel(length)[0].unflatten(0, (2, 2)).detach().numpy()
    D = layer.D.detach().numpy()
    for c in range(2):
        for h in range(2):
            x = u[0, h].numpy()
            for t in range(length):
                past = sum(K[0, c, h, t - s] * x[s] for s in range(t + 1))
                future = sum(K[1, c, h, s - t - 1] * x[s] for s in range(t + 1, length))
                assert got[c, h, t] == pytest.approx(past + future + D[c, h] * x[t], abs=1e-9)


def test_l_max_cuts_the_kernel() -> None:
    torch.manual_seed(0)
    layer = FFTConv(2, d_state=4, l_max=5)
    u = torch.zeros(1, 2, 12)
    u[..., 0] = 1.0
    response = layer(u)[0]
    assert response[..., 5:].abs().max() < 1e-6
    torch.testing.assert_close(response[0, :, 1:5], layer.kernel(5)[0][0, :, 1:5])
