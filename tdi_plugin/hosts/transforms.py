"""The positive transforms of s4's parameters and their inverses, stable over the whole range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tdi_plugin.errors import HostError, choices

RELU_FLOOR = 1e-4
SOFTPLUS_LINEAR = 20.0


@dataclass(frozen=True)
class Transform:
    """A map from a raw parameter to a positive value, its inverse, and the open range of its values."""

    forward: Callable[[Tensor], Tensor]
    inverse: Callable[[Tensor], Tensor]
    low: float = 0.0
    high: float = float("inf")


def inverse_softplus(value: Tensor) -> Tensor:
    """x with softplus(x) = value: value + log(1 - exp(-value)), finite for every positive value.

    Above 20 torch's softplus is the identity, and so is its inverse.
    """
    return torch.where(value > SOFTPLUS_LINEAR, value, value + torch.log(-torch.expm1(-value)))


TRANSFORMS: dict[str, Transform] = {
    "none": Transform(lambda x: x, lambda v: v, low=-float("inf")),
    "exp": Transform(torch.exp, torch.log),
    "relu": Transform(lambda x: torch.relu(x) + RELU_FLOOR, lambda v: v - RELU_FLOOR, low=RELU_FLOOR),
    "sigmoid": Transform(torch.sigmoid, torch.logit, high=1.0),
    "softplus": Transform(torch.nn.functional.softplus, inverse_softplus),
}


def transform_of(module: object, attribute: str) -> Transform:
    """The transform that a module names in one of its attributes, e.g. ``real_transform``.

    Raises:
        HostError: the module names one that is not known.
    """
    name = getattr(module, attribute)
    if name not in TRANSFORMS:
        raise HostError(
            f"{type(module).__name__}.{attribute} is {name!r}, which cannot be inverted: "
            f"{choices(str(name), TRANSFORMS)}"
        )
    return TRANSFORMS[name]


def invert(transform: Transform, value: Tensor, attribute: str, name: str) -> Tensor:
    """The raw parameter whose transform is ``value``.

    Raises:
        HostError: a value that this transform cannot take, naming the attribute and the module.
    """
    outside = ~((value > transform.low) & (value < transform.high))
    if outside.any():
        raise HostError(
            f"{name or 'The model'}.{attribute} was asked to stand for "
            f"{value[outside][0].item():.4g}, but its transform only takes values in "
            f"({transform.low:g}, {transform.high:g}); build the layer with another transform."
        )
    return transform.inverse(value)
