"""The density over frequency: its cells, its quantiles, and how it is tempered, floored and resampled."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError


def check_density(density: Tensor, length: int) -> Tensor:
    """(K,) float64 density with DC at zero and sum one, K = length//2 + 1.

    Raises:
        DataError: wrong shape, values that are not finite or negative, or no mass off DC.
    """
    density = torch.as_tensor(density).detach().to("cpu", torch.float64).clone()
    expected = (length // 2 + 1,)
    if tuple(density.shape) != expected:
        raise DataError(
            f"density has shape {tuple(density.shape)}; expected {expected} for length {length}. Take both "
            "from one spectrum."
        )
    # The sum is not finite where a value is not, nor where finite ones overflow.
    if not torch.isfinite(density.sum()) or (density < 0).any():
        raise DataError(
            "density holds NaN, infinite or negative values, or too large ones to add up; check the spectrum "
            "it came from."
        )
    density[0] = 0.0
    if (total := density.sum()) <= 0:
        raise DataError(
            "density is zero at every frequency but DC, so there is nowhere to put poles; use "
            "statistic='power'."
        )
    return density / total


def cell_edges(length: int) -> Tensor:
    """(K,) float64 edges of the cells around the bins f_k = k/L, k = 1..L//2, in cycles/sample.

    Cell k is [f_k - 1/2L, f_k + 1/2L] cut at 1/2: for even L the last cell is half as wide as the others.
    """
    edges = (torch.arange(length // 2 + 1, dtype=torch.float64) + 0.5) / length
    edges[-1] = 0.5
    return edges


def cell_centres(length: int) -> Tensor:
    """(K - 1,) float64 centres of the cells; all lie strictly between 0 and 1/2."""
    edges = cell_edges(length)
    return (edges[1:] + edges[:-1]) / 2


def quantiles(density: Tensor, length: int, levels: Tensor) -> Tensor:
    """Frequencies below which the given part of the mass lies: F^-1(u), F piecewise linear over the cells.

    Args:
        density: (K,) float64, sum one.
        length: L, samples in a series.
        levels: any shape, in (0, 1).
    """
    mass = density[1:].clamp_min(0)
    cumulative = torch.cat([mass.new_zeros(1), mass.cumsum(0)])
    cumulative = cumulative / cumulative[-1]
    edges = cell_edges(length)
    cell = torch.searchsorted(cumulative, levels.contiguous(), right=True).clamp(1, mass.numel()) - 1
    inside = (levels - cumulative[cell]) / (cumulative[cell + 1] - cumulative[cell]).clamp_min(1e-300)
    return edges[cell] + inside.clamp(0, 1) * (edges[cell + 1] - edges[cell])


def shape_density(density: Tensor, temper: float = 1.0, floor: float = 0.0) -> Tensor:
    """Temper, then floor: (1 - floor) * d^temper / sum(d^temper) + floor / (K - 1), DC left at zero.

    Args:
        density: (K,) float64 with DC at zero.
        temper: exponent in (0, 1]; smaller spreads the mass.
        floor: share of a flat density, in [0, 1].

    Raises:
        OptionError: temper or floor out of range.
    """
    if not 0 < temper <= 1:
        raise OptionError(f"temper={temper!r} is outside (0, 1]; 1 leaves the density as it is.")
    if not 0 <= floor <= 1:
        raise OptionError(f"floor={floor!r} is outside [0, 1]; 0 leaves the density as it is.")
    # Relative to its largest value, so that a small exponent does not lift what was only rounding to zero.
    raised = torch.where(density > 0, (density / density.max()) ** temper, 0.0)
    shaped = (1 - floor) * raised / raised.sum() + floor / (density.numel() - 1)
    shaped[0] = 0.0
    return shaped / shaped.sum()


def resample_density(density: Tensor, length: int, new_length: int) -> Tensor:
    """The same mass over frequency on the grid of another length: (K,) -> (new_length//2 + 1,).

    Each new cell receives the mass that the old piecewise constant density has inside it. Frequencies are in
    cycles/sample, so the sampling rate is taken to be the same.
    """
    edges, new_edges = cell_edges(length), cell_edges(new_length)
    cumulative = torch.cat([density.new_zeros(1), density[1:].cumsum(0)])
    at = new_edges.clamp(edges[0], edges[-1])
    cell = torch.searchsorted(edges, at, right=True).clamp(1, edges.numel() - 1) - 1
    inside = (at - edges[cell]) / (edges[cell + 1] - edges[cell])
    below = cumulative[cell] + inside * (cumulative[cell + 1] - cumulative[cell])
    # Mass under the first new cell joins it: a shorter grid sees less of the lowest frequencies.
    below[0] = 0.0
    return torch.cat([density.new_zeros(1), below.diff()])


def below(density: Tensor, length: int, limit: float) -> Tensor:
    """The density without its cells centred at or above ``limit`` cycles/sample, (K,) -> (K,).

    Raises:
        DataError: nothing is left.
    """
    kept = torch.cat([density[:1], density[1:] * (cell_centres(length) < limit)])
    if kept[1:].sum() <= 0:
        raise DataError(
            f"The density has no mass below {limit:.4g} cycles/sample, from where on the layer is silent; "
            "build it with a higher bandlimit, or give floor above 0."
        )
    return kept / kept.sum()
