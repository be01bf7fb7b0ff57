"""Parameters that carry their own optimizer options, as s4's do."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

Option = float | Mapping[str, float | None] | None
"""Given once for all parameters, or by the parameter's key; None is the optimizer's own."""


def register(
    module: nn.Module, name: str, value: Tensor, key: str, lr: Option = None, wd: Option = None
) -> None:
    """Make a copy of ``value`` a parameter of the module with ``lr`` and ``wd`` of that key in ``_optim``.

    With a learning rate of 0.0 it becomes a buffer.
    """
    value = value.clone().contiguous()
    given = {"lr": _of(lr, key), "weight_decay": _of(wd, key)}
    if given["lr"] == 0.0:
        module.register_buffer(name, value)
        return
    parameter = nn.Parameter(value)
    parameter._optim = {k: v for k, v in given.items() if v is not None}  # type: ignore[attr-defined]
    module.register_parameter(name, parameter)


def _of(option: Option, key: str) -> float | None:
    return option.get(key) if isinstance(option, Mapping) else option
