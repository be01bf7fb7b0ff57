"""The leading peaks of a task spectrum, in the units that people think in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tdi_plugin.spectrum.value import TaskSpectrum


@dataclass(frozen=True)
class Peak:
    """One local maximum of the density."""

    bin: int
    """k, so that the frequency is k / length."""
    frequency: float
    """Cycles/sample."""
    period: float
    """Samples."""
    hertz: float | None
    """Cycles/second, where the sample rate is known."""
    share: float
    """Part of the density inside the peak's width at half its prominence, cut where another of the listed
    peaks begins: the shares of a list add up to 1 at most."""
    p_value: float | None
    """Of this frequency among all, where labels were shuffled."""


def leading_peaks(spectrum: TaskSpectrum, most: int = 8) -> list[Peak]:
    """The highest local maxima, highest first; the ends of the grid may be peaks, DC may not."""
    from scipy.signal import find_peaks

    density = spectrum.density.numpy()
    walled = np.concatenate([[0.0], density[1:], [0.0]])
    bins, _ = find_peaks(walled, plateau_size=1)
    bins = bins[np.argsort(-walled[bins], kind="stable")][:most]
    low, high = _extents(walled, bins)
    found = []
    for k, first, last in zip(bins.tolist(), low.tolist(), high.tolist(), strict=True):
        frequency = k / spectrum.length
        found.append(
            Peak(
                bin=k,
                frequency=frequency,
                period=spectrum.length / k,
                hertz=None if spectrum.sample_rate is None else frequency * spectrum.sample_rate,
                share=float(walled[first : last + 1].sum()),
                p_value=None if spectrum.p_values is None else float(spectrum.p_values[k]),
            )
        )
    return found


def _extents(density: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last bin of each peak: its width at half its prominence, cut at the valleys to the others."""
    from scipy.signal import peak_widths

    _, _, left, right = peak_widths(density, bins, rel_height=0.5)
    low, high = np.ceil(left).astype(int), np.floor(right).astype(int)
    order = np.argsort(bins)
    for a, b in pairwise(order):
        valley = bins[a] + int(density[bins[a] : bins[b] + 1].argmin())
        high[a], low[b] = min(high[a], valley), max(low[b], valley + 1)
    return low, high
