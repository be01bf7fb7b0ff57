"""What stacked models score after an epoch, and how much of them runs at a time."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from tdi_plugin.nn.stack import StackedModels
from tdi_plugin.sweep.group_data import RunData, Split
from tdi_plugin.sweep.loop import Curves, finite

WORKING_SET = 1 << 20
"""Values in the largest activation of members that run together; beyond it a CPU waits for its memory."""
EVAL_ROWS = 128
"""Series of one evaluation pass at least, where the working set allows."""


def that_fit(members: int, values: int) -> int:
    """How many of the members, of so many values each, fit the working set; one at least."""
    return max(1, min(members, WORKING_SET // values))


def series_loss(logits: Tensor, y: Tensor) -> Tensor:
    """(M, b) cross-entropy of each series from logits (M, b, C) and classes (M, b)."""
    return functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)


def record(curves: Sequence[Curves], name: str, values: Tensor) -> None:
    """Append a value (M,) to each member's curve of that name."""
    for curve, value in zip(curves, values.tolist(), strict=True):
        curve.setdefault(name, []).append(finite(value))


def measure(stack: StackedModels, runs: Sequence[RunData], cost: int, curves: Sequence[Curves]) -> None:
    """Append an epoch's scores as ``loop.measure`` does; ``val_accuracy`` where every run validates.

    Args:
        stack: M models.
        runs: what each tests and validates on. A test set that all share is not copied for each.
        cost: values of the largest activation of one series in one member.
        curves: of each member.
    """
    test = [run.test for run in runs]
    shared = all(split is test[0] for split in test)
    accuracy, loss = evaluate(stack, test[0] if shared else test, cost)
    record(curves, "test_accuracy", accuracy)
    record(curves, "test_loss", loss)
    val = [run.val for run in runs if run.val is not None]
    if len(val) == len(runs):
        record(curves, "val_accuracy", evaluate(stack, val, cost)[0])


@torch.no_grad()
def evaluate(stack: StackedModels, data: Split | Sequence[Split], cost: int) -> tuple[Tensor, Tensor]:
    """Accuracy and mean cross-entropy (M,) on series that all members share, or on each member's own."""
    stack.module.eval()
    # few members at a time rather than few series: every pass computes the kernels anew
    together = that_fit(stack.size, cost * EVAL_ROWS)
    found: list[tuple[Tensor, Tensor]] = []
    for start in range(0, stack.size, together):
        members = slice(start, start + together)
        part = stack.part(members)
        rows = max(1, WORKING_SET // (cost * part.size))
        if isinstance(data, Split):
            found.append(_shared(part, data, rows))
        else:
            found.append(_own(part, data[members], rows))
    accuracy, loss = zip(*found, strict=True)
    return torch.cat(accuracy), torch.cat(loss)


def _shared(stack: StackedModels, data: Split, rows: int) -> tuple[Tensor, Tensor]:
    right = torch.zeros(stack.size, device=data.x.device)
    loss = torch.zeros(stack.size, device=data.x.device, dtype=torch.float64)
    for x, y in zip(data.x.split(rows), data.y.split(rows), strict=True):
        logits = stack(x, shared=True)
        right += (logits.argmax(-1) == y).sum(dim=1)
        loss += series_loss(logits, y.expand(stack.size, -1).contiguous()).double().sum(dim=1)
    return right / len(data), loss / len(data)


def _own(stack: StackedModels, data: Sequence[Split], rows: int) -> tuple[Tensor, Tensor]:
    counts = torch.tensor([len(split) for split in data], device=data[0].y.device)
    index = torch.arange(int(counts.max()), device=counts.device)
    right = torch.zeros(stack.size, device=counts.device)
    loss = torch.zeros(stack.size, device=counts.device, dtype=torch.float64)
    for part in index.split(rows):
        # a member with fewer series repeats its last one, which then does not count
        own = [split.at(part.clamp(max=len(split) - 1)) for split in data]
        y = torch.stack([split.y for split in own])
        logits, counted = stack(torch.stack([split.x for split in own])), part < counts.unsqueeze(1)
        right += ((logits.argmax(-1) == y) & counted).sum(dim=1)
        loss += (series_loss(logits, y).double() * counted).sum(dim=1)
    return right / counts, loss / counts
