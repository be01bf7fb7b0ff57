"""T_h as FFT product, dense matrix and causal convolution: one map; and the kernel it induces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tdi_plugin.errors import DataError
from tdi_plugin.kernel import induced_kernel, toeplitz_operator

FIXED = settings(derandomize=True, deadline=None, max_examples=40)
System = Callable[..., Tensor]


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


@FIXED
@given(
    seed=st.integers(0, 2**20),
    length=st.integers(2, 130),
    channels=st.integers(1, 3),
    count=st.integers(1, 4),
)
def test_fft_dense_and_convolution_are_one_map(
    system: System, seed: int, length: int, channels: int, count: int
) -> None:
    h = torch.stack([system(seed + c, length) for c in range(channels)])
    T = toeplitz_operator(h)
    g = np.random.default_rng(seed)
    u, y = g.standard_normal((length, count)), g.standard_normal((channels * length, count))
    causal = [np.convolve(row, u[:, i])[:length] for row in h.numpy() for i in range(count)]
    causal = np.stack(causal).reshape(channels, count, length).transpose(0, 2, 1).reshape(-1, count)
    assert relative(T @ u, causal / channels**0.5) < 1e-10
    assert relative(T.dense() @ u, causal / channels**0.5) < 1e-10
    assert relative(T.T @ y, T.dense().T @ y) < 1e-10
    assert relative(T.matvec(u[:, 0]), T.dense() @ u[:, 0]) < 1e-10
    assert relative(T.gram(), T.dense().T @ T.dense()) < 1e-10
    assert T.trace() == pytest.approx(np.linalg.norm(T.dense()) ** 2, rel=1e-12)


@FIXED
@given(
    seed=st.integers(0, 2**20),
    length=st.integers(2, 80),
    count=st.integers(1, 12),
    channels=st.integers(1, 3),
)
def test_gram_is_its_definition_symmetric_and_positive(
    system: System, seed: int, length: int, count: int, channels: int
) -> None:
    h = torch.stack([system(seed + c, length) for c in range(channels)])
    x = np.random.default_rng(seed).standard_normal((count, length))
    K = induced_kernel(h, x)
    filtered = np.stack([[np.convolve(row, u)[:length] for u in x] for row in h.numpy()])
    expected = np.einsum("cbl,cdl->bd", filtered, filtered) / length / channels
    assert relative(K.numpy(), expected) < 1e-10
    assert torch.equal(K, K.mT) or relative(K.numpy(), K.mT.numpy()) < 1e-14
    eigenvalues = torch.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]
    assert relative(induced_kernel(h, x[:1], x).numpy(), K[:1].numpy()) < 1e-12


def test_the_map_is_causal(system: System) -> None:
    T = toeplitz_operator(system(0, 32))
    u = np.random.default_rng(0).standard_normal(32)
    later = u.copy()
    later[20:] += 1.0
    np.testing.assert_allclose((T @ later)[:20], (T @ u)[:20], rtol=0, atol=1e-14)
    assert np.abs((T @ later)[20:] - (T @ u)[20:]).max() > 1e-3


@pytest.mark.parametrize(
    ("h", "says"),
    [
        (torch.ones(1), "length 1"),
        (torch.tensor(1.0), "length 0"),
        (torch.ones(0), "empty"),
        (torch.tensor([1.0, torch.nan]), "1 NaN or infinite values among 2"),
        (torch.ones(4, dtype=torch.complex64), "complex"),
    ],
)
def test_bad_responses(h: Tensor, says: str) -> None:
    with pytest.raises(DataError, match=says):
        toeplitz_operator(h)


def test_bad_series() -> None:
    with pytest.raises(DataError, match=r"shape \(3, 5\); \(B, 4\) was expected"):
        induced_kernel(torch.ones(4), torch.ones(3, 5))
    with pytest.raises(DataError, match="one input channel at a time"):
        induced_kernel(torch.ones(4), torch.ones(3, 4, 2))
    with pytest.raises(DataError, match="The other data has shape"):
        induced_kernel(torch.ones(4), torch.ones(3, 4), torch.ones(3, 5))
