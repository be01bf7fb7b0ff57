"""Spectral matching: how far a response is from a task spectrum, and the variables it is improved over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.poles.placement import HIGHEST, place
from tdi_plugin.poles.response import frequency_response, modes

LOWEST = 1e-5


def squared(p: Tensor, q: Tensor) -> Tensor:
    """Sum over frequency of (p - q)^2."""
    return (p - q).square().sum()


def cosine(p: Tensor, q: Tensor) -> Tensor:
    """1 - p.q / (|p| |q|)."""
    return 1 - (p @ q) / (p.norm() * q.norm())


def kl(p: Tensor, q: Tensor) -> Tensor:
    """Sum over frequency of q log(q / p): what coding the task by the response would cost."""
    return torch.special.xlogy(q, q / p.clamp_min(1e-300)).sum()


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"squared": squared, "cosine": cosine, "kl": kl}


def spectral_loss(power: Tensor, density: Tensor, kind: str = "squared") -> Tensor:
    """L_spec between |H|^2 and a task spectrum, both scaled to sum one without DC.

    Args:
        power: (..., K), |H|^2 on the grid; leading dimensions are averaged.
        density: (K,) of the task.
        kind: squared, cosine or kl.

    Raises:
        OptionError: an unknown kind.
    """
    if kind not in LOSSES:
        raise OptionError(f"Unknown loss {kind!r}: {choices(str(kind), LOSSES)}")
    mean = power.reshape(-1, power.shape[-1]).mean(0)[1:]
    return LOSSES[kind](mean / mean.sum(), density[1:] / density[1:].sum())


@dataclass
class Variables:
    """Free coordinates of a layer: any real value of each stands for a stable layer without aliasing."""

    frequency: Tensor
    """(S, P) logit of 2f, f the resonance at the row's reference step size."""
    damping: Tensor
    """(S, P) log of the decay per sample at that step size."""
    step: Tensor
    """(H, Q) log dt."""
    output: Tensor
    """(channels, H, P) complex, B * C."""
    reference: Tensor
    """(S, Q) step size that f and the damping refer to; fixed."""

    @classmethod
    def of(cls, f: Tensor, damping: Tensor, dt: Tensor, output: Tensor, reference: Tensor) -> Variables:
        """Start from a layer; a pole outside (0, 1/2), such as S4D-Lin's first, starts just inside."""
        inside = f.clamp(LOWEST, HIGHEST * (1 - LOWEST))
        return cls(torch.logit(2 * inside), damping.log(), dt.log(), output.clone(), reference)

    def leaves(self) -> list[Tensor]:
        """The tensors to optimise, made to require gradients."""
        free = [self.frequency, self.damping, self.step, self.output]
        return [tensor.requires_grad_() for tensor in free]

    def layer(self, disc: str) -> tuple[Tensor, Tensor, Tensor]:
        """Poles (S, P), step sizes (H, Q) and B * C (channels, H, P)."""
        f = (torch.sigmoid(self.frequency) / 2).clamp(LOWEST / 2, HIGHEST)
        return place(f, self.damping.exp(), self.reference, disc), self.step.exp(), self.output

    def response(self, disc: str, length: int) -> Tensor:
        """(channels, H, K) complex, the DFT of the layer's first ``length`` samples."""
        poles, dt, weights = self.layer(disc)
        return frequency_response(*modes(poles, dt, weights, disc), length)
