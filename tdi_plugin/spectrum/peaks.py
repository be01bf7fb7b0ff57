"""The leading peaks of a task spectrum, in the units that people think in."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Part of the density inside the peak's width at half its prominence."""
    p_value: float | None
    """Of this frequency among all, where labels were shuffled."""


def leading_peaks(spectrum: TaskSpectrum, most: int = 8) -> list[Peak]:
    """The highest local maxima, highest first; the ends of the grid may be peaks, DC may not."""
    from scipy.signal import find_peaks, peak_widths

    density = spectrum.density.numpy()
    walled = np.concatenate([[0.0], density[1:], [0.0]])
    bins, _ = find_peaks(walled, plateau_size=1)
    bins = bins[np.argsort(-walled[bins], kind="stable")][:most]
    _, _, left, right = peak_widths(walled, bins, rel_height=0.5)
    found = []
    for k, low, high in zip(bins.tolist(), np.ceil(left), np.floor(right), strict=True):
        frequency = k / spectrum.length
        found.append(
            Peak(
                bin=k,
                frequency=frequency,
                period=spectrum.length / k,
                hertz=None if spectrum.sample_rate is None else frequency * spectrum.sample_rate,
                share=float(walled[int(low) : int(high) + 1].sum()),
                p_value=None if spectrum.p_values is None else float(spectrum.p_values[k]),
            )
        )
    return found
