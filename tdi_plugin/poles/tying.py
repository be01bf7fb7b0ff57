"""Rows of poles shared by several channels: one step size a group, and the damping that goes with it."""

from __future__ import annotations

import torch
from torch import Tensor


def grouped(dt: Tensor, rows: int) -> Tensor:
    """(H, Q) -> (H // S, S, Q): channel h uses row h mod S."""
    return dt.reshape(-1, rows, dt.shape[-1])


def group_mean(dt: Tensor, rows: int) -> Tensor:
    """(S, Q) geometric mean of the step sizes of the channels that share a row."""
    groups = grouped(dt, rows)
    mean = groups.log().mean(0).exp()
    return torch.where((groups == groups[:1]).all(0), groups[0], mean)


def is_uneven(dt: Tensor, rows: int) -> bool:
    """Whether channels of different step size share a row of poles."""
    groups = grouped(dt, rows)
    return bool((groups != groups[:1]).any())


def spread_damping(real: Tensor, dt: Tensor, rows: int) -> Tensor:
    """Dampings per sample of a group with one step size, spread over the decay times its channels had.

    d[s, j] = gamma[s, j] * Q_s(u[s, j]), Q_s the (log-linear) quantile function of the step sizes in group s.
    Within a row the levels u are (i + 1/2)/P in the order of a golden-ratio sequence, so that damping does
    not go with frequency.

    Args:
        real: (S, P) gamma = -Re A.
        dt: (H, Q) step sizes before they were made equal, Q = 1 or P.
        rows: S.

    Returns:
        (S, P) float64.
    """
    pairs = real.shape[1]
    ordered = grouped(dt, rows).log().sort(dim=0).values.expand(-1, -1, pairs)
    golden = (5**0.5 - 1) / 2
    sequence = (torch.arange(1, rows * pairs + 1, dtype=torch.float64) * golden).frac().view(rows, pairs)
    levels = (sequence.argsort(1).argsort(1).to(torch.float64) + 0.5) / pairs
    at = levels * (ordered.shape[0] - 1)
    low = at.floor().long()
    high = at.ceil().long()
    below, above = ordered.gather(0, low[None])[0], ordered.gather(0, high[None])[0]
    return real * (below + (at - low) * (above - below)).exp()
