"""Measuring where a layer resonates, from its frequency response alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tdi_plugin.hosts import Host

POINTS = 8193


def response_of_kernel(kernel: Tensor, points: int = POINTS) -> Tensor:
    """(..., points) complex128: zero-padded FFT of an impulse response (..., L), at 0..1/2 cycles/sample."""
    return torch.fft.rfft(kernel.detach().to("cpu", torch.float64), n=2 * (points - 1))


def resonances(response: Tensor) -> Tensor:
    """Frequency of the largest |H|, cycles/sample, by a parabola through log|H| around the largest sample.

    Args:
        response: (..., F), complex or already |H|, on an even grid from 0 to 1/2 with both ends.

    Returns:
        (...) float64. A maximum at either end is given as that end.
    """
    level = response.abs().to("cpu", torch.float64).clamp_min(1e-300).log()
    last = level.shape[-1] - 1
    peak = level.argmax(-1, keepdim=True)
    left, middle, right = (level.gather(-1, (peak + s).clamp(0, last)).squeeze(-1) for s in (-1, 0, 1))
    bend = left - 2 * middle + right
    inner = ((peak > 0) & (peak < last)).squeeze(-1) & (bend < 0)
    shift = torch.where(inner, (left - right) / (2 * torch.where(inner, bend, -1.0)), 0.0)
    return (peak.squeeze(-1) + shift) / (2 * last)


def one_pole_at_a_time(host: Host, respond: Callable[[], Tensor]) -> Tensor:
    """(channels, H, P) float64: where each pole resonates when the others are silent; C is put back after.

    Args:
        host: the layer, whose C is set to one on a single pair at a time.
        respond: its frequency response (channels, H, F) as it then is.
    """
    kept, measured = host.output, []
    for pair in range(kept.shape[-1]):
        alone = torch.zeros_like(kept)
        alone[..., pair] = 1.0
        host.write(output=alone)
        measured.append(resonances(respond()).expand(kept.shape[:2]))
    host.write(output=kept)
    return torch.stack(measured, dim=-1)


def placement_errors(
    host: Host, respond: Callable[[], Tensor], frequencies: Tensor, damping: Tensor
) -> Tensor:
    """Relative distance of every measured resonance from the frequency it was placed at; nothing is asserted.

    A decaying pole and its mirror images at -f and 1 - f pull the maximum of |H| off the pole's angle by
    1 / (2 (2 pi f tau)^2) and the like; poles with f tau < 2, or (1/2 - f) tau < 1, are given as 0.

    Args:
        host: the layer, already written.
        respond: its frequency response (channels, H, F).
        frequencies: (S, P) cycles/sample that were asked for.
        damping: (S, P) 1/tau per sample.

    Returns:
        (channels, H, P) float64.
    """
    measured = one_pole_at_a_time(host, respond)
    repeats = measured.shape[1] // frequencies.shape[0]
    f, d = frequencies.repeat(repeats, 1), damping.repeat(repeats, 1)
    return (measured / f - 1).abs() * (torch.minimum(f, 1 - 2 * f) / d >= 2)
