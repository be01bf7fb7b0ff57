"""Writing a parameter in place, and making sure that the host gives back what was written."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.transforms import Transform, invert

# Of the storage type's own rounding: a transform and its inverse lose a few tens of units in the last place.
ROUNDING = 200.0


def parameter(module: nn.Module, attribute: str, name: str) -> Tensor:
    """The parameter or buffer of this name (a learning rate of 0 makes a parameter a buffer).

    Raises:
        HostError: the module has none.
    """
    value = getattr(module, attribute, None)
    if not isinstance(value, Tensor):
        raise HostError(
            f"{name or 'The model'} ({type(module).__name__}) has no {attribute}; s4 v4 (commit "
            "e757cef) has one. Use a known version, or register an adapter with "
            "tdi_plugin.hosts.register_host."
        )
    if attribute not in module._parameters and attribute not in module._buffers:
        raise HostError(
            f"{name or 'The model'}.{attribute} is computed from something else (pruned or "
            "parametrized?), so that a value written to it would be lost; place the poles before the model "
            "is pruned or parametrized."
        )
    if value.is_meta:
        raise HostError(
            f"{name or 'The model'}.{attribute} is on the meta device and holds no values; build "
            "the model on the CPU, or place the poles after model.to_empty and its initialization."
        )
    if value.dtype == torch.bfloat16:
        raise HostError(
            f"{name or 'The model'}.{attribute} is bfloat16, in which no kernel can be computed; "
            "place the poles while the model is float32 (model.float()), and leave its kernels so."
        )
    return value


@torch.no_grad()
def overwrite(module: nn.Module, attribute: str, raw: Tensor, changed: Tensor | None = None) -> None:
    """Copy ``raw`` into the storage of an attribute, only where ``changed``."""
    stored = getattr(module, attribute)
    if stored.is_inference() and not torch.is_inference_mode_enabled():
        raise HostError(
            f"{attribute} of a {type(module).__name__} was made in torch.inference_mode and cannot be "
            "written (nor trained); build the model outside of it."
        )
    raw = raw.to(stored.device, stored.dtype)
    stored.copy_(raw if changed is None else torch.where(changed.to(stored.device), raw, stored))


def replace_where(
    module: nn.Module, attribute: str, transform: Transform, asked: Tensor, present: Tensor, name: str
) -> None:
    """Write the raw form of ``asked`` where it differs from ``present``.

    What stays keeps its exact bits, even where the inverse is undefined (a frequency of 0 under "exp").

    Raises:
        HostError: no such attribute, or a value that its transform cannot take.
    """
    parameter(module, attribute, name)
    changed = asked != present
    raw = torch.zeros_like(asked)
    raw[changed] = invert(transform, asked[changed], attribute, name)
    overwrite(module, attribute, raw, changed)


def confirm(asked: Tensor, read: Tensor, dtype: torch.dtype, attribute: str, name: str) -> None:
    """Compare what is read back through the host's accessor with what was asked.

    Raises:
        HostError: they differ by more than the rounding of the host's storage type, relative to each value.
    """
    tolerance = ROUNDING * torch.finfo(dtype).eps
    error = (read - asked).abs() / asked.abs().clamp_min(torch.finfo(torch.float32).tiny)
    if not (error <= tolerance).all():
        worst = int(torch.nan_to_num(error, nan=float("inf")).argmax())
        raise HostError(
            f"{name or 'The model'}.{attribute} was written but not taken: "
            f"{asked.flatten()[worst].item():.6g} was asked "
            f"and {read.flatten()[worst].item():.6g} is read back. The module computes its value from "
            f"something else than {attribute}; write an adapter for it, or leave this layer out (layers=...)."
        )
