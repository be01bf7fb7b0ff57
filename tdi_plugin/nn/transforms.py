"""Maps between a positive quantity (step size, part of a pole) and the parameter that stores it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from tdi_plugin.errors import OptionError, choices

TRANSFORMS = ("none", "exp", "relu", "sigmoid", "softplus")
SMALLEST = 1e-4
"""s4 raises every quantity to at least this before it inverts a transform."""


def check_transform(option: str, name: str) -> None:
    """Raise OptionError unless ``name`` is a known transform; ``option`` says whose."""
    if name not in TRANSFORMS:
        raise OptionError(f"{option}={name!r} is no transform: {choices(str(name), TRANSFORMS)}")


def from_parameter(parameter: Tensor, transform: str) -> Tensor:
    """The positive quantity that ``parameter`` stands for, any shape, same dtype."""
    if transform == "none":
        return parameter
    if transform == "exp":
        return torch.exp(parameter)
    if transform == "relu":
        return F.relu(parameter) + SMALLEST
    if transform == "sigmoid":
        return torch.sigmoid(parameter)
    if transform == "softplus":
        return F.softplus(parameter)
    raise OptionError(f"Transform {transform!r} is unknown: {choices(transform, TRANSFORMS)}")


def to_parameter(value: Tensor, transform: str) -> Tensor:
    """Inverse of ``from_parameter`` as s4 initialises with it: values are raised to 1e-4 first.

    ``relu`` keeps s4's inverse (the value itself), so its quantity comes back larger by 1e-4.
    """
    value = value.clamp(min=SMALLEST)
    if transform in ("none", "relu"):
        return value
    if transform == "exp":
        return torch.log(value)
    if transform == "sigmoid":
        return torch.logit(value)
    if transform == "softplus":
        # log(exp(v) - 1) without its overflow at large v and its cancellation at small v
        return value + torch.log(-torch.expm1(-value))
    raise OptionError(f"Transform {transform!r} is unknown: {choices(transform, TRANSFORMS)}")
