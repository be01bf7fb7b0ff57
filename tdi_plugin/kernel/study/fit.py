"""Claim 2: moving the poles to the task makes J / sum(eta) larger and C(rho) rise faster."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.kernel.alignment import alignment, cumulative_power, mismatch, mode_weights
from tdi_plugin.kernel.response import frequency_response
from tdi_plugin.kernel.spectra import kernel_spectrum
from tdi_plugin.kernel.study.arms import ARMS, arm, response
from tdi_plugin.kernel.study.tasks import BANDS, LENGTH, band_target, in_band, measured_spectrum
from tdi_plugin.spectrum import TaskSpectrum

SERIES = 256
"""White series from which a task spectrum is measured."""


def coverage(power: Tensor, inside: Tensor) -> float:
    """Mean of |H|^2 in a band over its mean off DC: below 1 the response misses the band."""
    return float(power[inside].mean() / power[1:].mean())


def figures(layer: nn.Module, target: Tensor, inside: Tensor, spectrum: TaskSpectrum) -> dict[str, Any]:
    """Everything the note says about one layer on one task; ``curve`` is C(rho)."""
    h = response(layer, target.numel())
    weights = mode_weights(kernel_spectrum(h).v, target)
    power = frequency_response(h, target.numel(), aggregate="power")
    curve, area = cumulative_power(weights)
    density = power.clone()
    density[0] = 0.0
    density = density / density.sum()
    return {
        "coverage": coverage(power, inside),
        "area": area,
        "alignment": alignment(h, target, normalise=True),
        "mismatch": mismatch(power, spectrum),
        "loss": float((density - spectrum.density).square().sum()),
        "curve": curve.tolist(),
        "density": density.tolist(),
    }


def fit(seed: int, steps: int) -> dict[str, Any]:
    """Figures of every arm on the low, mid and high task, with spectra measured from ``SERIES`` series."""
    out = {}
    for position, (name, (low, high)) in enumerate(BANDS.items()):
        target, inside = band_target(low, high, seed + position), in_band(low, high)
        spectrum = measured_spectrum(target, SERIES, seed + position)
        layers = {a: arm(a, spectrum, seed, steps) for a in ARMS}
        out[name] = {
            "band": [low, high],
            "frequencies": spectrum.frequencies.tolist(),
            "spectrum": spectrum.density.tolist(),
            "target": (torch.fft.rfft(target).abs().square() * 2 / LENGTH).tolist(),
            "arms": {a: figures(layer, target, inside, spectrum) for a, layer in layers.items()},
        }
    return out
