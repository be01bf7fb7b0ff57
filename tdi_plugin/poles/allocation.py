"""Which frequencies the poles of a layer take, given a density: one small rule each, in a registry."""

from __future__ import annotations

from collections.abc import Callable

import torch
from scipy.signal import find_peaks
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.poles.density import cell_centres, check_density, quantiles, shape_density
from tdi_plugin.poles.spacing import spread

Rule = Callable[[Tensor, int, int, int, torch.Generator | None], Tensor]

PROMINENCE = 0.05


def quantile(
    density: Tensor, length: int, rows: int, pairs: int, generator: torch.Generator | None = None
) -> Tensor:
    """Equal mass between neighbours, interleaved over rows: f[s, j] = F^-1((j*S + s + 1/2) / (S*P)).

    Every row covers the whole density, and the layer as a whole covers it S times as finely.
    """
    levels = (torch.arange(rows * pairs, dtype=torch.float64) + 0.5) / (rows * pairs)
    return quantiles(density, length, levels).view(pairs, rows).T.contiguous()


def topk(
    density: Tensor, length: int, rows: int, pairs: int, generator: torch.Generator | None = None
) -> Tensor:
    """The S*P largest bins, dealt over the rows in order of size.

    A layer with more pairs than there are bins with mass would take them all, which is no choice: then every
    row takes the P largest, starting again from the top where even P are not there.
    """
    ranked = torch.argsort(density[1:], descending=True, stable=True)
    ranked = ranked[: int((density[1:] > 0).sum())]
    total = rows * pairs
    if total <= ranked.numel():
        chosen = ranked[:total].view(pairs, rows).T
    else:
        chosen = ranked[torch.arange(pairs) % ranked.numel()].expand(rows, pairs)
    return cell_centres(length)[chosen]


def peaks(
    density: Tensor, length: int, rows: int, pairs: int, generator: torch.Generator | None = None
) -> Tensor:
    """Local maxima by prominence, at least 5 % of the largest value; row s takes peaks s*P, s*P + 1, ...
    cyclically.

    With more peaks than S*P the least prominent go without a pole. With fewer peaks than P each row has them
    all, and its other pairs follow the quantile rule.
    """
    bins = peak_bins(density)
    found = min(bins.numel(), pairs)
    order = (torch.arange(rows)[:, None] * pairs + torch.arange(found)) % bins.numel()
    chosen = cell_centres(length)[bins[order] - 1]
    if found == pairs:
        return chosen
    return torch.cat([chosen, quantile(density, length, rows, pairs - found)], dim=1)


def sample(
    density: Tensor, length: int, rows: int, pairs: int, generator: torch.Generator | None = None
) -> Tensor:
    """Independent draws from the density: F^-1 of uniform numbers, from the given generator only."""
    generator = generator if generator is not None else torch.Generator().manual_seed(0)
    levels = torch.rand((rows, pairs), dtype=torch.float64, generator=generator)
    return quantiles(density, length, levels)


ALLOCATIONS: dict[str, Rule] = {"quantile": quantile, "topk": topk, "peaks": peaks, "sample": sample}


def peak_bins(density: Tensor, prominence: float = PROMINENCE) -> Tensor:
    """(Q,) int64 bins of the local maxima, most prominent first; the largest is always one, DC never."""
    # The ends of the spectrum can be maxima too, so it is taken to fall to zero outside.
    padded = torch.nn.functional.pad(density[1:], (1, 1)).numpy()
    found, properties = find_peaks(padded, prominence=prominence * padded.max())
    order = (-properties["prominences"]).argsort(kind="stable")
    return torch.from_numpy(found[order])


def allocate(
    density: Tensor,
    length: int,
    rows: int,
    pairs: int,
    method: str = "quantile",
    temper: float = 1.0,
    floor: float = 0.0,
    spacing: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Frequencies of a layer's poles, strictly between 0 and 1/2 cycles/sample.

    Args:
        density: (K,) non-negative, K = length//2 + 1; DC is left out whatever it holds.
        length: L, samples in the series that the density was measured on.
        rows: S, independent rows of poles (n_ssm).
        pairs: P, conjugate pairs a row (d_state//2).
        method: quantile, topk, peaks or sample.
        temper: exponent of the density before anything else, in (0, 1].
        floor: share of a flat density mixed in after that, in [0, 1].
        spacing: least distance in cycles/sample between two poles of one row.
        generator: source of randomness of "sample"; the global one is never used.

    Returns:
        (S, P) float64, sorted within each row.

    Raises:
        DataError: a density that cannot be used, or no rows or pairs.
        OptionError: an unknown method, or an option out of range.
    """
    if method not in ALLOCATIONS:
        raise OptionError(f"Unknown allocation {method!r}: {choices(str(method), ALLOCATIONS)}")
    if rows < 1 or pairs < 1:
        raise DataError(
            f"A layer with {rows} rows of {pairs} pole pairs has no poles; d_state must be at least 2."
        )
    if length < 2:
        raise DataError(
            f"A series of length {length} has no frequency between 0 and 1/2; use at least 2 samples."
        )
    shaped = shape_density(check_density(density, length), temper, floor)
    frequencies = ALLOCATIONS[method](shaped, length, rows, pairs, generator)
    return spread(frequencies.sort(dim=1).values, spacing)
