"""Claim 1: the kernel's eigenvalues approach |H|^2 / L, on average like 1/L, and not in every sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.kernel.circulant import circulant_bounds, circulant_distance, circulant_spectrum
from tdi_plugin.kernel.response import impulse_response
from tdi_plugin.kernel.spectra import kernel_spectrum
from tdi_plugin.kernel.study.arms import response, s4d_lin


def systems(length: int, seed: int) -> dict[str, Tensor]:
    """Impulse responses: a short and a long resonance, three random pairs, S4D-Lin, and 1 - 2/z."""
    g = torch.Generator().manual_seed(seed)
    tau = 8 * 10 ** -torch.rand(3, generator=g, dtype=torch.float64)
    angle = torch.pi * torch.rand(3, generator=g, dtype=torch.float64)
    output = torch.randn(3, generator=g, dtype=torch.complex128)
    zero_outside = torch.zeros(length, dtype=torch.float64)
    zero_outside[:2] = torch.tensor([1.0, -2.0])
    return {
        "resonance, τ = 8": impulse_response(torch.tensor([-1 / 8 - 1.2j]), length, dt=1.0),
        "resonance, τ = 200": impulse_response(torch.tensor([-1 / 200 - 1.2j]), length, dt=1.0),
        "three random pairs, τ ≤ 8": impulse_response(
            torch.exp(torch.complex(-1 / tau, angle)), length, output=output
        ),
        "S4D-Lin, 16 channels": response(s4d_lin(seed), length),
        "h = [1, -2]": zero_outside,
    }


def convergence(lengths: tuple[int, ...], seed: int) -> dict[str, Any]:
    """Distance, bounds and log-log slope a system; the extreme eigenvalues of h = [1, -2]."""
    out: dict[str, Any] = {"lengths": list(lengths), "systems": {}}
    for name, h in systems(max(lengths), seed).items():
        distance = circulant_distance(h, lengths)
        bounds = [circulant_bounds(h[..., :length]) for length in lengths]
        slope = np.polyfit(np.log(lengths), np.log(distance.numpy()), 1)[0]
        out["systems"][name] = {
            "distance": distance.tolist(),
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
            "slope": float(slope),
        }
    h = systems(max(lengths), seed)["h = [1, -2]"]
    short = [h[:length] for length in (8, 16, 24, 32, 40, 48)]
    out["counterexample"] = {
        "lengths": [s.numel() for s in short],
        "smallest_singular_value": [float((kernel_spectrum(s).eta[-1] * s.numel()).sqrt()) for s in short],
        "smallest_response": [float((circulant_spectrum(s) * s.numel()).min().sqrt()) for s in short],
    }
    return out


def sorted_spectra(lengths: tuple[int, ...], seed: int) -> list[dict[str, Any]]:
    """L eta and |H|^2, both sorted, for the long resonance at each length."""
    out = []
    for length in lengths:
        h = systems(length, seed)["resonance, τ = 200"]
        approx = circulant_spectrum(h).sort(descending=True).values * length
        exact = kernel_spectrum(h).eta * length
        out.append({"length": length, "exact": exact.tolist(), "circulant": approx.tolist()})
    return out
