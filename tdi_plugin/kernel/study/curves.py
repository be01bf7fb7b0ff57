"""Claim 3: the self-consistent equation predicts learning curves, given the spectrum under the data's law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.kernel.alignment import mode_weights
from tdi_plugin.kernel.learning_curve import predicted_learning_curve
from tdi_plugin.kernel.regression import dual_coefficients
from tdi_plugin.kernel.spectra import kernel_spectrum
from tdi_plugin.kernel.study.arms import arm, response
from tdi_plugin.kernel.study.fit import SERIES
from tdi_plugin.kernel.study.tasks import (
    BANDS,
    CORRELATION,
    LENGTH,
    Population,
    band_target,
)
from tdi_plugin.kernel.toeplitz import toeplitz_operator

SIZES = (4, 8, 16, 32, 64, 128, 192, 384, 768)
"""Training series; at 256 = L the errors without ridge have no bound."""
RIDGE = 0.01
"""Of the kernel's trace under the data."""


def populations(target: Tensor) -> list[tuple[Population, float]]:
    """Inputs and ridge (as a part of the trace): white without and with ridge, coloured, and two classes."""
    white = Population.regression("white", target)
    return [
        (white, 0.0),
        (white, RIDGE),
        (Population.regression("coloured", target, CORRELATION), RIDGE),
        (Population.two_classes("two classes, coloured", target, CORRELATION, separation=4.0), RIDGE),
    ]


def measure(population: Population, h: Tensor, size: int, ridge: float, trials: int, seed: int) -> np.ndarray:
    """(trials,) exact squared errors on new data of kernel regressions on ``size`` fresh series each."""
    g = torch.Generator().manual_seed(seed)
    M = torch.from_numpy(toeplitz_operator(h).gram()) / h.shape[-1]
    errors = []
    for _ in range(trials):
        x, y = population.draw(size, g)
        alpha = dual_coefficients(x @ M @ x.mT, y.unsqueeze(-1), ridge, min(x.shape))
        errors.append(population.error((M @ x.mT @ alpha).squeeze(-1)))
    return np.asarray(errors)


def one_curve(
    population: Population, h: Tensor, part: float, sizes: Sequence[int], trials: int, seed: int
) -> dict[str, Any]:
    """Predicted and measured errors over E[Y^2]; ``naive`` takes T_h's (eta, w^2) as if inputs were white."""
    spectrum, floor = population.modes(h), population.unexplained
    ridge = part * float(spectrum.eta.sum())
    predicted = predicted_learning_curve(spectrum.eta, spectrum.weights, sizes, ridge, floor) + floor
    eta, v = kernel_spectrum(h)
    naive = predicted_learning_curve(eta, mode_weights(v, population.cross), sizes, ridge, floor) + floor
    runs = np.stack([measure(population, h, size, ridge, trials, seed + size) for size in sizes])
    low, high = np.quantile(runs, [0.025, 0.975], axis=1)
    half = 1.96 * runs.std(axis=1, ddof=1) / trials**0.5
    off = np.abs(predicted.numpy() - runs.mean(1))
    return {
        "sizes": list(sizes),
        "ridge": part,
        "predicted": (predicted / population.variance).tolist(),
        "naive": (naive / population.variance).tolist(),
        "mean": (runs.mean(1) / population.variance).tolist(),
        "low": (low / population.variance).tolist(),
        "high": (high / population.variance).tolist(),
        "inside_band": ((low <= predicted.numpy()) & (predicted.numpy() <= high)).tolist(),
        "inside_mean_interval": (off <= half).tolist(),
        "naive_inside_band": ((low <= naive.numpy()) & (naive.numpy() <= high)).tolist(),
        "relative_error": (off / runs.mean(1)).tolist(),
    }


def curves(seed: int, trials: int, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Every task, kind of input and arm (S4D-Lin, TDI), and the fractions of points inside."""
    out: dict[str, Any] = {"length": LENGTH, "trials": trials, "curves": []}
    for position, (task, (low, high)) in enumerate(BANDS.items()):
        target = band_target(low, high, seed + position)
        for population, part in populations(target):
            spectrum = population.spectrum_of(SERIES, seed + position)
            for name in ("S4D-Lin", "TDI"):
                h = response(arm(name, spectrum, seed), LENGTH)
                curve = one_curve(population, h, part, sizes, trials, seed)
                out["curves"].append({"task": task, "arm": name, "inputs": population.name, **curve})
    for key in ("inside_band", "inside_mean_interval", "naive_inside_band"):
        out[key] = {
            inputs: float(np.mean([c[key] for c in out["curves"] if inputs in ("all", c["inputs"])]))
            for inputs in ("all", "white", "coloured", "two classes, coloured")
        }
    out["median_relative_error"] = float(np.median([c["relative_error"] for c in out["curves"]]))
    return out
