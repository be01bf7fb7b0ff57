"""How fast each resonance decays: the host's own rate, the width of its peak, or one number for all."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.signal import peak_widths
from torch import Tensor

from tdi_plugin.errors import OptionError
from tdi_plugin.poles.allocation import peak_bins
from tdi_plugin.poles.density import cell_centres

DAMPINGS = ("host", "width")
"""The rules with a name; any positive number is one too."""


def host_damping(real: Tensor, dt: Tensor) -> Tensor:
    """gamma * dt per sample: the host's spread of step sizes is a spread of bandwidths.

    Args:
        real: (S, P) gamma, -Re A under zero-order hold; under the bilinear rule the decay of the discrete
            pole over dt.
        dt: broadcastable to (S, P) step sizes.
    """
    return real * dt


def width_damping(density: Tensor, length: int, frequencies: Tensor) -> Tensor:
    """pi * w per sample, w the width in cycles/sample of the peak next to each frequency, at least a bin.

    The width is taken half-way between the peak's top and the lowest bin, so that a flat floor under the
    spectrum does not widen it.

    A resonance of damping d per sample has half-power bandwidth d/pi cycles/sample.

    Args:
        density: (K,) float64.
        length: L.
        frequencies: (S, P) cycles/sample.

    Returns:
        (S, P) float64.
    """
    bins = peak_bins(density).sort().values
    padded = torch.nn.functional.pad(density[1:] - density[1:].min(), (1, 1)).numpy()
    widths = (
        torch.from_numpy(np.asarray(peak_widths(padded, bins.numpy(), rel_height=0.5)[0], dtype=np.float64))
        / length
    )
    nearest = (frequencies.flatten()[:, None] - cell_centres(length)[bins - 1]).abs().argmin(1)
    return (math.pi * widths.clamp_min(1 / length))[nearest].view_as(frequencies)


def constant_damping(value: float, frequencies: Tensor) -> Tensor:
    """The same damping per sample for every pole.

    Raises:
        OptionError: not a positive, finite number.
    """
    check_damping(value)
    return torch.full_like(frequencies, float(value))


def check_damping(value: object) -> None:
    """Raise OptionError unless ``value`` can be a damping per sample."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and value > 0):  # type: ignore[arg-type,operator]
        raise OptionError(
            f"damping={value!r} is not known; give 'host', 'width' or a positive number per sample."
        )
