"""A training step with task-dependent poles against the same step with S4D-Lin's: one JSON object a line.

usage: python benchmarks/step.py
"""

from __future__ import annotations

import json
import time

import torch
from torch.nn import functional as F

from tdi_plugin import TaskSpectrum, tdi_
from tdi_plugin.nn import SequenceClassifier

BATCH, LENGTH, REPEATS = 16, 512, 30


def main() -> None:
    """Alternate steps of the two models, so that a busy machine slows both; compare the medians."""
    steps = {}
    for name in ("lin", "tdi"):
        torch.manual_seed(0)
        model = SequenceClassifier(1, 4, d_model=32, n_layers=2, norm="batch", layer={"d_state": 32})
        if name == "tdi":
            tdi_(model, TaskSpectrum(torch.rand(LENGTH // 2 + 1), LENGTH, "power"))
        steps[name] = Step(model)
    times: dict[str, list[float]] = {"lin": [], "tdi": []}
    for i in range(2 * REPEATS + 6):
        name = ("lin", "tdi")[i % 2]
        started = time.perf_counter()
        steps[name]()
        if i >= 6:
            times[name].append(time.perf_counter() - started)
    lin, tdi = (torch.tensor(times[name]).median().item() for name in ("lin", "tdi"))
    shape = {"batch": BATCH, "length": LENGTH, "d_model": 32, "d_state": 32, "layers": 2}
    result = {"name": "training step with TDI", "shape": shape, "threads": torch.get_num_threads()}
    reference = {"slowdown": round(tdi / lin, 3), "reference": "same step with S4D-Lin poles"}
    print(json.dumps({**result, **reference}))


class Step:
    """Forward, backward and AdamW on fixed random series."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
        self.x, self.y = torch.randn(BATCH, LENGTH, 1), torch.arange(BATCH) % 4

    def __call__(self) -> None:
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(self.x), self.y).backward()
        self.optimizer.step()


if __name__ == "__main__":
    main()
