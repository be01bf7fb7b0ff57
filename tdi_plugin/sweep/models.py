"""The models of a study: each a few lines of YAML, built with one seed and one initialisation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.sweep.group_data import GroupData

Build = Callable[[int, str], nn.Module]
"""(seed, init) to a model; the same seed gives the same weights but for what ``init`` sets."""


@cache
def _registry() -> dict[str, dict[str, Any]]:
    import yaml

    found = yaml.safe_load(Path(__file__).with_name("models.yaml").read_text(encoding="utf-8"))
    return dict(found)


def model_spec(name: str) -> dict[str, Any]:
    """The settings of a model by name.

    Raises:
        OptionError: no such model.
    """
    if name not in _registry():
        raise OptionError(f"Unknown model {name!r}: {choices(name, _registry())}")
    return dict(_registry()[name])


def builder(name: str, data: GroupData, ssm_lr: float) -> Build:
    """How to build the model of this name for a data set.

    Args:
        name: of the registry.
        data: gives input channels (or tokens), classes and length.
        ssm_lr: the learning rate of dt, A, B and C.

    Raises:
        OptionError: no such model, or one that does not take tokens for data that are.
    """
    spec = model_spec(name)
    kind = spec.pop("kind")
    if kind == "one-layer" and data.n_tokens:
        raise OptionError(
            f"{name} filters real series, and these are of {data.n_tokens} tokens; take a deep model, which "
            "embeds them."
        )
    d_input = data.n_tokens or data.full.x.shape[-1]

    def deep(init: str) -> nn.Module:
        from tdi_plugin.nn import SequenceClassifier

        layer = {"d_state": spec["d_state"], "n_ssm": spec.get("n_ssm"), "init": init, "lr": ssm_lr}
        rest = {k: v for k, v in spec.items() if k not in ("d_state", "n_ssm")}
        encoder = "embedding" if data.n_tokens else "linear"
        return SequenceClassifier(d_input, data.d_output, encoder=encoder, layer=layer, **rest)

    def one_layer(init: str) -> nn.Module:
        from tdi_plugin.nn import OneLayer

        return OneLayer(d_input, data.d_output, l_max=data.length, init=init, lr=ssm_lr, **spec)

    def s4(init: str) -> nn.Module:
        from tdi_plugin.sweep.s4_model import with_s4_blocks

        return with_s4_blocks(deep(init), spec, init, ssm_lr)

    make = {"deep": deep, "one-layer": one_layer, "s4": s4}[kind]

    def build(seed: int, init: str) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return make(init)

    return build
