"""A least distance between the poles of one row."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError
from tdi_plugin.poles.placement import HIGHEST


def spread(frequencies: Tensor, spacing: float) -> Tensor:
    """The nearest frequencies (least squares, row by row) that keep the spacing and stay inside (0, 1/2).

    With g[j] = f[j] - j*spacing the constraint is that g does not fall, so the answer is the isotonic
    regression of g, g*[j] = max over i <= j of min over k >= j of mean(g[i..k]), cut to its bounds.

    Args:
        frequencies: (S, P) float64 in cycles/sample, sorted within rows.
        spacing: least distance in cycles/sample; 0 changes nothing.

    Raises:
        OptionError: a negative spacing, or one for which P poles do not fit between 0 and 1/2.
    """
    pairs = frequencies.shape[1]
    if spacing < 0 or (spacing > 0 and pairs * spacing >= HIGHEST):
        raise OptionError(
            f"spacing={spacing!r} does not fit {pairs} poles between 0 and 1/2; give less than "
            f"{HIGHEST / pairs:.4g}."
        )
    if spacing == 0 or pairs == 1:
        return frequencies
    steps = spacing * torch.arange(pairs, dtype=frequencies.dtype)
    shifted = frequencies - steps
    sums = torch.nn.functional.pad(shifted.cumsum(1), (1, 0))
    first, last = torch.arange(pairs)[:, None], torch.arange(pairs)[None, :]
    means = (sums[:, 1:][:, None, :] - sums[:, :-1][:, :, None]) / (last - first + 1).clamp_min(1)
    means = means.masked_fill(last < first, torch.inf)
    smallest = means.flip(2).cummin(2).values.flip(2)  # [i, j]: min over k >= j of mean(g[i..k])
    smallest = smallest.masked_fill(last < first, -torch.inf)
    isotonic = smallest.max(dim=1).values
    lowest = min(spacing / 2, float(frequencies.min()))
    return isotonic.clamp(lowest, HIGHEST - spacing * (pairs - 1)) + steps
