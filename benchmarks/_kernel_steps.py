"""The kernel's share of a training step, of the builtin model's and of s4's, and that of placing poles."""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn

from _process import in_own_process
from _products import Product, direct
from _report import report, skipped
from _timing import shortest
from _training import Step, classifier
from tdi_plugin.nn import vandermonde_product


def step() -> None:
    """A training step of a two-block model, with the factored product and with the table."""
    import tdi_plugin.nn.kernel as kernel

    for d_model, d_state in ((32, 32), (64, 64)):
        runs = []
        for chosen in (vandermonde_product, direct):
            one = Step(classifier(d_model, d_state), torch.randn(16, 1024, 1))

            def run(one: Step = one, chosen: Product = chosen) -> None:
                kernel.vandermonde_product = chosen  # type: ignore[assignment]
                one()

            runs.append(run)
        found = shortest(runs)
        kernel.vandermonde_product = vandermonde_product
        shape = {"batch": 16, "length": 1024, "d_model": d_model, "d_state": d_state, "layers": 2}
        report("training step", shape, "the same with direct", speedup=found[1] / found[0], ms=1e3 * found[0])


def real_s4() -> None:
    """A training step of s4's own backbone on ListOps-shaped input, with and without fast_kernel."""
    from tdi_plugin.s4.paths import default_checkout

    root = default_checkout()
    if not root.is_dir():
        skipped("s4", f"no checkout at {root}")
        return
    for d_state in (4, 64):
        plain, fast = in_own_process(s4_step, str(root), d_state)
        shape = {
            "batch": 4,
            "length": 2048,
            "d_model": 128,
            "d_state": d_state,
            "layers": 2,
            "bidirectional": True,
        }
        report("training step of s4", shape, "s4's fallback", speedup=plain / fast, ms=1e3 * fast)


def s4_step(root: str, d_state: int) -> list[float]:
    """Seconds, plain and fast; in a process of its own, because s4's packages are called src and models."""
    import logging

    logging.disable(logging.WARNING)
    sys.path.insert(0, root)
    from src.models.sequence.backbones.model import SequenceModel

    from tdi_plugin.hosts.fast import use_fast_kernels

    class Classifier(nn.Module):
        def __init__(self, fast: bool) -> None:
            super().__init__()
            layer = {"_name_": "s4", "mode": "diag", "init": "diag-lin", "d_state": d_state, "n_ssm": 1}
            layer.update(bidirectional=True, backend="naive", dt_transform="softplus")
            self.encoder = nn.Embedding(20, 128)
            self.model = SequenceModel(128, 2, prenorm=False, norm="batch", residual="R", layer=layer)
            self.decoder = nn.Linear(128, 10)
            if fast:
                use_fast_kernels(self.model)

        def forward(self, x: Tensor) -> Tensor:
            return self.decoder(self.model(self.encoder(x))[0].mean(1))

    tokens = torch.randint(20, (4, 2048))
    return shortest((Step(Classifier(False), tokens), Step(Classifier(True), tokens)), seconds=20)


def init() -> None:
    """Measuring and placing poles in a model of s4's size, beside an epoch on FordA-sized data."""
    from tdi_plugin import task_spectrum, tdi_

    x, y = torch.randn(3601, 500, 1), torch.arange(3601) % 2
    model = classifier(256, 64, n_layers=6, init="tdi")
    one = Step(model, x[:32])
    one()
    (epoch,) = shortest([one], seconds=10)
    epoch *= -(-len(x) // 32)
    (placing,) = shortest([lambda: tdi_(model, task_spectrum(x, y))])
    shape = {"layers": 6, "d_model": 256, "d_state": 64, "series": 3601, "length": 500, "batch": 32}
    report("spectrum and tdi_", shape, "one epoch", seconds=placing, percent=100 * placing / epoch)
