"""Step sizes: drawn log-uniformly between two bounds, and how a parameter stores them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError
from tdi_plugin.nn.transforms import from_parameter, to_parameter


def check_step_sizes(dt_min: float, dt_max: float) -> None:
    """Raise OptionError unless these are bounds of positive numbers."""
    if not 0.0 < dt_min <= dt_max:
        raise OptionError(f"Got dt_min={dt_min}, dt_max={dt_max}; expected 0 < dt_min <= dt_max.")


def draw_step_sizes(
    shape: tuple[int, ...], dt_min: float, dt_max: float, transform: str, fast: bool
) -> Tensor:
    """The parameter, of this shape, that stores random step sizes; ``step_size`` reads it."""
    low, high = math.log(dt_min), math.log(dt_max)
    log_dt = torch.rand(*shape, dtype=torch.float32) * (high - low) + low
    inv_dt = log_dt if transform == "exp" else to_parameter(torch.exp(log_dt), transform)
    return torch.asinh(inv_dt) if fast else inv_dt


def step_size(inv_dt: Tensor, transform: str, fast: bool) -> Tensor:
    """The step sizes that ``inv_dt`` stores, of its shape."""
    return from_parameter(torch.sinh(inv_dt) if fast else inv_dt, transform)
