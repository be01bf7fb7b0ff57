"""Real-valued state-space models: one 2x2 block for every conjugate pair of poles."""

from __future__ import annotations

import torch
from torch import Tensor


def real_blocks(poles: Tensor) -> Tensor:
    """[[-gamma, omega], [-omega, -gamma]] for A = -gamma - i omega: eigenvalues A and its conjugate.

    Args:
        poles: (...) complex.

    Returns:
        (..., 2, 2) of the real type of ``poles``; it acts on (Re x, Im x) as A does on x.
    """
    gamma, omega = -poles.real, -poles.imag
    return torch.stack([torch.stack([-gamma, omega], dim=-1), torch.stack([-omega, -gamma], dim=-1)], dim=-2)


def real_input(b: Tensor) -> Tensor:
    """(..., 2): (Re b, Im b), what drives the block of a pair with input weight b."""
    return torch.view_as_real(b.resolve_conj())


def real_output(c: Tensor) -> Tensor:
    """(..., 2): (2 Re c, -2 Im c), so that it reads 2 Re(c x) from (Re x, Im x)."""
    return torch.stack([2 * c.real, -2 * c.imag], dim=-1)


def poles_of_blocks(blocks: Tensor) -> Tensor:
    """(...) complex: the eigenvalue with Im A <= 0 of each real 2x2 block of the above form."""
    gamma = -(blocks[..., 0, 0] + blocks[..., 1, 1]) / 2
    omega = (blocks[..., 0, 1] - blocks[..., 1, 0]) / 2
    return torch.complex(-gamma, -omega.abs())


def discrete_blocks(poles: Tensor, dt: Tensor) -> Tensor:
    """(..., 2, 2): exp(dt * block) in closed form, a rotation by omega dt shrunk by exp(-gamma dt)."""
    return real_blocks(torch.exp(poles * dt))
