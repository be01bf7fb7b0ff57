"""Claim 5: a learning curve doesn't follow J / sum(eta), whose maximum puts everything on one mode."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.kernel.learning_curve import predicted_learning_curve
from tdi_plugin.kernel.study.tasks import NOISE, grid

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
RIDGE = 0.05


def kernels(task: Tensor) -> dict[str, Tensor]:
    """Densities (K,) of |H|^2: the task's largest bin alone, its own shape, its square root, and flat."""
    one = torch.zeros_like(task)
    one[task.argmax()] = 1.0
    flat = torch.ones_like(task)
    flat[0] = 0.0
    root = task.sqrt()
    return {
        "largest bin alone (maximum of J)": one,
        "task's own shape (minimum of L_spec)": task,
        "square root of the task's shape": root / root.sum(),
        "flat": flat / flat.sum(),
    }


def concentration() -> dict[str, Any]:
    """Loss, J / sum(eta) and predicted learning curve of each, on circulant kernels and white inputs.

    A frequency has two modes (cosine and sine) of one eigenvalue; the task's power divides between them
    equally.
    """
    f = grid()
    task = torch.exp(-0.5 * ((f - 0.15) / 0.03) ** 2) + 0.5 * torch.exp(-0.5 * ((f - 0.3) / 0.02) ** 2)
    task[0] = 0.0
    task = task / task.sum()
    out: dict[str, Any] = {
        "frequencies": f.tolist(),
        "task": task.tolist(),
        "sizes": list(SIZES),
        "kernels": {},
    }
    for name, p in kernels(task).items():
        eta, weights = (p / 2).repeat(2), (task / 2).repeat(2)
        curve = predicted_learning_curve(eta, weights, SIZES, RIDGE, NOISE)
        out["kernels"][name] = {
            "loss": float((p - task).square().sum()),
            "alignment": float(eta @ weights),
            "curve": curve.tolist(),
        }
    return out
