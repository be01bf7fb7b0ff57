"""In an s4 process: the builtin backbone beside s4's own, case by case; writes what differs as JSON.

Usage: nn_driver.py CHECKOUT OUT
"""

from __future__ import annotations

import itertools
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.nn import SequenceModel
from tdi_plugin.s4.standins import install

LAYERS: dict[str, dict[str, Any]] = {
    "lin": {"init": "diag-lin", "n_ssm": None, "lr": {"dt": 1e-3, "A": 1e-3, "B": 1e-3}},
    "inv tied bilinear": {
        "init": "diag-inv",
        "n_ssm": 1,
        "disc": "bilinear",
        "dt_transform": "exp",
        "channels": 2,
    },
    "legs both ways": {"init": "diag-legs", "n_ssm": 2, "dt_tie": False, "bidirectional": True, "lr": 0.0},
    "transforms": {
        "init": "diag-lin",
        "real_transform": "softplus",
        "imag_transform": "exp",
        "dt_fast": True,
        "final_act": None,
    },
}


def build(s4_model: type[nn.Module], seed: int, **model: Any) -> tuple[nn.Module, SequenceModel]:
    layer = {"d_state": 16, "dt_transform": "softplus", "tie_dropout": True, **model.pop("layer")}
    common = {"d_model": 8, "n_layers": 2, "tie_dropout": True, **model}
    torch.manual_seed(seed)
    theirs = s4_model(
        residual="R", layer={**layer, "_name_": "s4", "mode": "diag", "verbose": False}, **common
    )
    torch.manual_seed(seed)
    return theirs, SequenceModel(layer=layer, **common)


def distance(a: Tensor, b: Tensor) -> float:
    """Largest difference relative to the largest value."""
    return float(((a - b).abs().max() / b.abs().max().clamp_min(1e-3)).detach())


def compare(theirs: nn.Module, ours: nn.Module) -> dict[str, Any]:
    first, second = ({k: v.clone() for k, v in m.state_dict().items()} for m in (theirs, ours))
    options = [[getattr(p, "_optim", None) for p in m.parameters()] for m in (theirs, ours)]
    found: dict[str, Any] = {
        "names": list(first) == list(second),
        "forms": all(first[k].shape == second[k].shape and first[k].dtype == second[k].dtype for k in first),
        "order": [n for n, _ in theirs.named_parameters()] == [n for n, _ in ours.named_parameters()],
        "optim": options[0] == options[1],
        "initial": max(distance(second[k].double(), first[k].double()) for k in first),
    }
    ours.load_state_dict(first)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(4, 101, 8)
    for kind, dtype in (("single", torch.float32), ("double", torch.float64)):
        outputs = []
        for model in (theirs, ours):
            model.to(dtype).load_state_dict(first)
            torch.manual_seed(1)
            outputs.append(model.train()(x.to(dtype))[0])
            model.zero_grad()
            outputs[-1].square().mean().backward()
        found[f"train {kind}"] = distance(outputs[1], outputs[0])
        named = dict(ours.named_parameters())
        grads = [(named[n].grad, p.grad) for n, p in theirs.named_parameters()]
        found[f"grad {kind}"] = max(distance(*pair) for pair in grads)
        buffers = zip(ours.buffers(), theirs.buffers(), strict=True)
        found[f"buffers {kind}"] = max(
            [0.0, *(distance(*pair) for pair in buffers if pair[0].is_floating_point())]
        )
        found[f"eval {kind}"] = distance(ours.eval()(x.to(dtype))[0], theirs.eval()(x.to(dtype))[0])
    return found


def main(root: str, out: str) -> None:
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    install()
    sys.path.insert(0, root)
    from src.models.sequence.backbones.model import SequenceModel as S4Model  # type: ignore[import-not-found]

    cases = {}
    for norm, prenorm, transposed, name in itertools.product(
        ("layer", "batch"), (True, False), (False, True), LAYERS
    ):
        place = "pre" if prenorm else "post"
        pair = build(
            S4Model, 3, norm=norm, prenorm=prenorm, transposed=transposed, dropout=0.1, layer=LAYERS[name]
        )
        cases[f"{norm} {place} {'BHL' if transposed else 'BLH'} {name}"] = compare(*pair)
    Path(out).write_text(json.dumps(cases))


if __name__ == "__main__":
    main(*sys.argv[1:])
