"""A training step with task-dependent poles against the same step with S4D-Lin's: one JSON object a line.

usage: python benchmarks/step.py
"""

from __future__ import annotations

from statistics import median

import torch

from _report import report
from _timing import in_turn
from _training import Step, classifier
from tdi_plugin import TaskSpectrum, tdi_

BATCH, LENGTH, REPEATS = 16, 512, 30


def main() -> None:
    """Compare the medians of steps taken in turn."""
    steps = []
    for ours in (False, True):
        torch.manual_seed(0)
        model = classifier(32, 32)
        if ours:
            tdi_(model, TaskSpectrum(torch.rand(LENGTH // 2 + 1), LENGTH, "power"))
        steps.append(Step(model, torch.randn(BATCH, LENGTH, 1)))
    lin, tdi = map(median, in_turn(steps, REPEATS, warm=3))
    shape = {"batch": BATCH, "length": LENGTH, "d_model": 32, "d_state": 32, "layers": 2}
    report("training step with TDI", shape, "same step with S4D-Lin poles", slowdown=tdi / lin)


if __name__ == "__main__":
    main()
