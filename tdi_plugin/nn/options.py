"""s4's layer configuration, as far as the builtin model follows it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.nn.block import S4Block
from tdi_plugin.nn.convolution import FFTConv
from tdi_plugin.nn.kernel import S4DKernel

# Keys of s4's layer configuration with the values that mean "not used": anything else is refused.
UNUSED: dict[str, tuple[Any, ...]] = {
    "_name_": ("s4",),
    "layer": ("fftconv",),
    "mode": ("diag", "s4d"),
    "kernel": (None,),
    "gate": (None,),
    "gate_act": ("id", None),
    "bottleneck": (None,),
    "mult_act": (None,),
    "postact": (None,),
    "initializer": (None,),
    "weight_norm": (False,),
    "measure": (None,),
    "rank": (1,),
    "drop_kernel": (0.0,),
    "deterministic": (False,),
    "swap_channels": (False,),
    "is_real": (False,),
    "verbose": (True, False),
    "backend": ("cuda", "keops", "naive"),
}


def layer_options(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The layer options that the builtin model uses, out of s4's.

    Raises:
        OptionError: for an unknown option, or one of s4 that is set to something not in the builtin model.
    """
    known = {n for t in (S4Block, FFTConv, S4DKernel) for n in inspect.signature(t).parameters}
    known -= {"d_model", "layer", "kernel"}
    used: dict[str, Any] = {}
    for key, value in layer.items():
        if key in ("transposed", "bidirectional") and value is None:
            continue
        if key in UNUSED:
            if value not in UNUSED[key]:
                allowed = ", ".join(repr(v) for v in UNUSED[key])
                raise OptionError(
                    f"Layer option {key}={value!r} is not in the builtin model, which has {allowed}; "
                    "leave it out or use s4 itself."
                )
        elif key not in known:
            raise OptionError(f"The builtin model has no layer option {key!r}: {choices(key, known)}")
        elif key != "transposed":
            used[key] = value
    return used
