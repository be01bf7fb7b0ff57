"""Random stable systems for the theory's tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tdi_plugin.kernel import impulse_response


@pytest.fixture(scope="session")
def system() -> Callable[..., Tensor]:
    """Impulse response (L,) of random conjugate pairs, time constants in [slowest / 20, slowest] samples."""

    def draw(seed: int, length: int, pairs: int = 3, slowest: float = 8.0) -> Tensor:
        g = torch.Generator().manual_seed(seed)
        tau = slowest * 20 ** -torch.rand(pairs, generator=g, dtype=torch.float64)
        angle = torch.pi * torch.rand(pairs, generator=g, dtype=torch.float64)
        output = torch.randn(pairs, generator=g, dtype=torch.complex128)
        return impulse_response(torch.exp(torch.complex(-1 / tau, angle)), length, output=output)

    return draw
