"""The same state-space model run step by step: what a kernel does to a state."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.nn.vandermonde import vandermonde_transpose


def step(pole: Tensor, B: Tensor, C: Tensor, u: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """x' = pole x + B u and y = 2 Re C x'.

    Args:
        pole: (H, P) discrete poles.
        B: (H, P) discrete input weights.
        C: (channels, H, P).
        u: (batch, H).
        state: (batch, H, P).

    Returns:
        y (batch, channels, H), and x' of the state's shape.
    """
    state = pole * state + B * u.unsqueeze(-1)
    return 2 * torch.einsum("chn,bhn->bch", C, state).real, state


def advance(log_pole: Tensor, B: Tensor, u: Tensor, state: Tensor) -> Tensor:
    """The state (batch, H, P) after a whole sequence u (batch, H, L), without stepping through it."""
    return torch.exp(log_pole * u.shape[-1]) * state + B * vandermonde_transpose(u.flip(-1), log_pole)
