"""Small layers whose behaviour and parameter names follow s4's: normalization, tied dropout."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tdi_plugin.errors import OptionError, choices

NORMS = ("layer", "batch", "none")


class Normalization(nn.Module):
    """Layer norm over channels, or batch norm over batch and time; the module inside is ``norm``.

    Args:
        d_model: number of channels.
        kind: "layer", "batch" or "none".
        transposed: inputs are (B, H, L) instead of (B, L, H). Layer norm then has one scale and shift for all
            channels, as in s4.
    """

    def __init__(self, d_model: int, kind: str = "layer", transposed: bool = False) -> None:
        super().__init__()
        if kind not in NORMS:
            raise OptionError(f"norm={kind!r} is unknown: {choices(str(kind), NORMS)}")
        self.kind, self.transposed = kind, transposed
        self.norm: nn.Module
        if kind == "batch":
            self.norm = nn.BatchNorm1d(d_model)
        elif kind == "layer":
            self.norm = ScalarLayerNorm() if transposed else nn.LayerNorm(d_model)
        else:
            self.norm = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        if self.kind == "batch" and not self.transposed:
            return self.norm(x.transpose(-1, -2)).transpose(-1, -2)
        return self.norm(x)

    def step(self, x: Tensor) -> Tensor:
        """One time step, (B, H). Batch norm only makes sense here in evaluation mode."""
        axis = -1 if self.transposed else -2
        return self.forward(x.unsqueeze(axis)).squeeze(axis)


class ScalarLayerNorm(nn.Module):
    """Layer norm of (B, H, L) over channels with a single learned scale ``s`` and shift ``m``."""

    def __init__(self) -> None:
        super().__init__()
        self.m = nn.Parameter(torch.zeros(1))
        self.s = nn.Parameter(torch.ones(1))
        for parameter in (self.m, self.s):
            parameter._optim = {"weight_decay": 0.0}  # type: ignore[attr-defined]

    def forward(self, x: Tensor) -> Tensor:
        std, mean = torch.std_mean(x, dim=1, correction=0, keepdim=True)
        return self.s / std * (x - mean + self.m)


class TiedDropout(nn.Module):
    """Dropout with one mask for all time steps.

    Args:
        p: probability of dropping a channel of a series.
        transposed: inputs are (B, H, L) instead of (B, L, H).
    """

    def __init__(self, p: float, transposed: bool = True) -> None:
        super().__init__()
        self.p, self.transposed = p, transposed

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        axis = 1 if self.transposed else x.ndim - 1
        # drawn as (B, H, 1) whatever the layout, like s4's, so that equal seeds give equal masks
        mask = torch.rand(x.shape[0], x.shape[axis], *(1,) * (x.ndim - 2), device=x.device) < 1.0 - self.p
        return x * (mask if self.transposed else mask.movedim(1, -1)) * (1.0 / (1.0 - self.p))


def dropout(p: float, tied: bool = False, transposed: bool = True) -> nn.Module:
    """The dropout layer for a probability: none at zero, tied over time when asked."""
    if not 0.0 <= p < 1.0:
        raise OptionError(f"dropout={p} is outside [0, 1); give a probability below one.")
    if p == 0.0:
        return nn.Identity()
    return TiedDropout(p, transposed) if tied else nn.Dropout(p)
