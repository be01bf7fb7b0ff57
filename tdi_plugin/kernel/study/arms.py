"""The layers that are compared: S4D-Lin, and the same layer with its poles moved to a task spectrum."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from tdi_plugin.init import tdi_
from tdi_plugin.kernel.response import impulse_response
from tdi_plugin.nn import S4DKernel
from tdi_plugin.refine import refine_
from tdi_plugin.spectrum import TaskSpectrum

D_MODEL, D_STATE = 16, 32
ARMS = ("S4D-Lin", "TDI", "TDI peaks", "refined")


def s4d_lin(seed: int) -> nn.Module:
    """A fresh layer; the global random stream is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return S4DKernel(D_MODEL, D_STATE, init="diag-lin")


def arm(name: str, spectrum: TaskSpectrum, seed: int, steps: int = 300) -> nn.Module:
    """One of ``ARMS``: TDI is the default (quantile) placement, refined S4D-Lin after spectral matching."""
    layer = s4d_lin(seed)
    if name.startswith("TDI"):
        tdi_(layer, spectrum, allocation="peaks" if name.endswith("peaks") else "quantile")
    elif name == "refined":
        refine_(layer, spectrum, steps=steps)
    return layer


def response(layer: nn.Module, length: int) -> Tensor:
    """(H, L): the impulse responses of all channels."""
    return impulse_response(copy.deepcopy(layer), length).flatten(0, -2)
