"""From continuous time to samples, by zero-order hold or by the bilinear rule."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError, choices

DISCS = ("zoh", "bilinear")


def check_disc(disc: str) -> None:
    """Raise OptionError unless ``disc`` is a known rule."""
    if disc not in DISCS:
        raise OptionError(f"disc={disc!r} is not in the builtin model: {choices(str(disc), DISCS)}")


def discretize(dt: Tensor, A: Tensor, disc: str) -> tuple[Tensor, Tensor]:
    """Logarithms of the discrete poles (H, P), and the gain (H, P) that takes B to its discrete form.

    Args:
        dt: (H, 1) or (H, P) step sizes.
        A: (H, P) complex poles.
        disc: "zoh" or "bilinear".
    """
    x = dt * A
    if disc == "zoh":
        return x, (torch.exp(x) - 1) / A
    return torch.log((1 + x / 2) / (1 - x / 2)), dt / (1 - x / 2)
