"""The deep model with its backbone taken from a real checkout of state-spaces/s4."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import Any

from torch import nn


def with_s4_blocks(model: nn.Module, spec: Mapping[str, Any], init: str, ssm_lr: float) -> nn.Module:
    """Replace the builtin backbone by s4's own SequenceModel with equal weights, in place.

    Args:
        model: a builtin SequenceClassifier.
        spec: the model's settings in ``models.yaml``.
        init: initialisation of the kernels.
        ssm_lr: learning rate of the kernels' parameters.

    Raises:
        HostError: no checkout of s4, or one that does not import.
    """
    from tdi_plugin.s4.launch import prepare

    with contextlib.redirect_stdout(io.StringIO()):
        prepare()
        from src.models.sequence.backbones.model import SequenceModel

        layer = {
            "_name_": "s4", "layer": "fftconv", "mode": "diag", "init": init, "d_state": spec["d_state"],
            "n_ssm": spec.get("n_ssm"), "lr": ssm_lr, "dt_min": 1e-3, "dt_max": 1e-1, "backend": "naive",
            "dt_transform": "softplus",
            "final_act": "glu", "bidirectional": False, "transposed": False,
        }  # fmt: skip
        backbone = SequenceModel(
            spec["d_model"], n_layers=spec["n_layers"], prenorm=spec["prenorm"], norm=spec["norm"],
            dropout=0.0, transposed=False, layer=[layer], residual="R",
        )  # fmt: skip
    backbone.load_state_dict(model.model.state_dict())  # type: ignore[union-attr]
    model.model = backbone
    return model
