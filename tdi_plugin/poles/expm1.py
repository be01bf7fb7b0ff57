"""exp(z) - 1 without cancellation for complex z, on every PyTorch from 2.0 (whose own is real only)."""

from __future__ import annotations

import torch
from torch import Tensor


def complex_expm1(z: Tensor) -> Tensor:
    """exp(z) - 1 for z = x + iy: expm1(x) cos y - 2 sin²(y/2) + i exp(x) sin y.

    >>> bool(complex_expm1(torch.tensor(1e-20 + 1e-20j)).abs() > 0)
    True
    """
    real = torch.expm1(z.real) * torch.cos(z.imag) - 2 * torch.sin(z.imag / 2).square()
    return torch.complex(real, torch.exp(z.real) * torch.sin(z.imag))
