"""Runs of one architecture trained at once, their parameters stacked, each as if it were alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.nn.memory import reuse_freed_memory
from tdi_plugin.nn.stack import StackedModels, saved_values

SCHEDULES = ("constant", "cosine")
WORKING_SET = 1 << 20
"""Values in the largest activation of members that run together; beyond it a CPU waits for its memory."""
EVAL_ROWS = 128
"""Series of one evaluation pass at least, where the working set allows."""
Data = tuple[Tensor, Tensor]
Curves = dict[str, list[float]]
Progress = Callable[[float], None]


def train_ensemble(
    models: Sequence[nn.Module],
    data: Sequence[Data],
    x_test: Tensor,
    y_test: Tensor,
    epochs: int,
    batch_size: int,
    lr: float,
    ssm_lr: float | None = None,
    weight_decay: float = 0.0,
    clip: float | None = None,
    batch_orders: Sequence[Tensor] = (),
    progress: Progress | None = None,
    validation: Sequence[Data] | None = None,
    schedule: str = "constant",
) -> list[Curves]:
    """Train M models of one architecture with AdamW; each ends as it would have alone, up to rounding.

    Members share the optimizer's settings and differ in weights, series and order of batches. Each member's
    gradient is clipped by its own norm. The models get their trained parameters and buffers back. As many run
    together as the working set allows: all of a small model, one at a time of a large one.

    Args:
        models: M modules of one class and shape, series (B, L, D) to logits (B, C).
        data: x (n, L, D) and y (n,) of each member, the same n for all.
        x_test: (n_test, L, D), shared.
        y_test: (n_test,).
        epochs: number of passes.
        batch_size: series in a batch; the last of an epoch may be smaller.
        lr: learning rate of every parameter without a rate of its own in ``_optim``.
        ssm_lr: put in place of the rates in ``_optim``; None keeps them.
        weight_decay: of every parameter without its own in ``_optim``.
        clip: largest gradient norm of a member; None for no clipping.
        batch_orders: (epochs, n) int64 of each member: the order in which it sees its series.
        progress: called after each epoch with the part that is done.
        validation: x and y of each member, evaluated after every epoch too.
        schedule: "constant", or "cosine" down to zero over the epochs, a step an epoch.

    Returns:
        A mapping of each member: ``train_loss``, ``test_loss``, ``test_accuracy`` and, with validation,
        ``val_loss`` and ``val_accuracy``; one value an epoch.

    Raises:
        DataError: series or orders that don't fit each other.
        OptionError: an unknown schedule, or members of different architecture.
    """
    _check(models, data, batch_orders, epochs, schedule)
    reuse_freed_memory()
    rows = min(batch_size, len(data[0][1]))
    cost = max(1, saved_values(models[0], data[0][0][:rows]) // rows)
    recipe = _Recipe(epochs, batch_size, lr, ssm_lr, weight_decay, clip, schedule, cost)
    together = max(1, min(len(models), WORKING_SET // (cost * rows)))
    curves: list[Curves] = []
    for start in range(0, len(models), together):
        part = slice(start, start + together)

        def tick(done: float, start: int = start, n: int = len(models[part])) -> None:
            if progress is not None:
                progress((start + done * n) / len(models))

        own = None if validation is None else validation[part]
        curves += _train(models[part], data[part], batch_orders[part], (x_test, y_test), own, recipe, tick)
    return curves


@dataclass(frozen=True)
class _Recipe:
    epochs: int
    batch_size: int
    lr: float
    ssm_lr: float | None
    weight_decay: float
    clip: float | None
    schedule: str
    cost: int
    """Values of the largest activation of one series in one member."""

    def factor(self, epoch: int) -> float:
        """Of the learning rates in this epoch."""
        return 1.0 if self.schedule == "constant" else 0.5 * (1 + math.cos(math.pi * epoch / self.epochs))


def _train(
    models: Sequence[nn.Module],
    data: Sequence[Data],
    orders: Sequence[Tensor],
    test: Data,
    validation: Sequence[Data] | None,
    recipe: _Recipe,
    tick: Progress,
) -> list[Curves]:
    stack = StackedModels(models)
    optimizer = torch.optim.AdamW(stack.groups(recipe.lr, recipe.weight_decay, recipe.ssm_lr), foreach=True)
    rates = [group["lr"] for group in optimizer.param_groups]
    curves: list[Curves] = [{} for _ in models]
    for epoch in range(recipe.epochs):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * recipe.factor(epoch)
        stack.module.train()
        total = torch.zeros(len(models), device=test[0].device)
        for x, y in _batches(data, orders, epoch, recipe.batch_size):
            losses = _cross_entropy(stack(x), y)
            optimizer.zero_grad()
            losses.mean(dim=1).sum().backward()
            if recipe.clip is not None:
                stack.clip_grad_norm_(recipe.clip)
            optimizer.step()
            total += losses.detach().sum(dim=1)
        stack.module.eval()
        _record(curves, "train", (total / len(data[0][1]),))
        _record(curves, "test", _evaluate(stack, test, recipe.cost))
        if validation is not None:
            _record(curves, "val", _evaluate(stack, validation, recipe.cost))
        tick((epoch + 1) / recipe.epochs)
    stack.give_back(models)
    return curves


def _batches(
    data: Sequence[Data], orders: Sequence[Tensor], epoch: int, size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """x (M, b, L, D) and y (M, b); members with the same series and order share the gathering of a batch."""
    keys = [(x.data_ptr(), order.data_ptr()) for (x, _), order in zip(data, orders, strict=True)]
    first = [keys.index(key) for key in keys]
    for start in range(0, orders[0].shape[1], size):
        rows = {i: orders[i][epoch, start : start + size] for i in set(first)}
        series = {i: data[i][0][index] for i, index in rows.items()}
        labels = [y[rows[i]] for i, (_, y) in zip(first, data, strict=True)]
        yield torch.stack([series[i] for i in first]), torch.stack(labels)


def _cross_entropy(logits: Tensor, y: Tensor) -> Tensor:
    """(M, b) loss of each series from logits (M, b, C)."""
    return F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)


@torch.no_grad()
def _evaluate(stack: StackedModels, data: Data | Sequence[Data], cost: int) -> tuple[Tensor, Tensor]:
    """Loss and accuracy (M,) on series that all members share, or on each member's own."""
    # few members at a time rather than few series: every pass computes the kernels anew
    together = max(1, min(stack.size, WORKING_SET // (cost * EVAL_ROWS)))
    found: list[tuple[Tensor, Tensor]] = []
    for start in range(0, stack.size, together):
        members = slice(start, start + together)
        part = stack.part(members)
        rows = max(1, WORKING_SET // (cost * part.size))
        if isinstance(data, tuple):
            found.append(_score(part, data, rows))
        else:
            found.append(_score_own(part, data[members], rows))
    loss, accuracy = zip(*found, strict=True)
    return torch.cat(loss), torch.cat(accuracy)


def _score(stack: StackedModels, data: Data, rows: int) -> tuple[Tensor, Tensor]:
    x, y = data
    right = torch.zeros(stack.size, device=x.device)
    loss = torch.zeros(stack.size, device=x.device, dtype=torch.float64)
    for part, target in zip(x.split(rows), y.split(rows), strict=True):
        logits = stack(part, shared=True)
        right += (logits.argmax(-1) == target).sum(dim=1)
        loss += _cross_entropy(logits, target.expand(stack.size, -1).contiguous()).double().sum(dim=1)
    return loss / len(y), right / len(y)


def _score_own(stack: StackedModels, data: Sequence[Data], rows: int) -> tuple[Tensor, Tensor]:
    counts = torch.tensor([len(y) for _, y in data], device=data[0][1].device)
    index = torch.arange(int(counts.max()), device=counts.device)
    right = torch.zeros(stack.size, device=counts.device)
    loss = torch.zeros(stack.size, device=counts.device, dtype=torch.float64)
    for part in index.split(rows):
        # a member with fewer series repeats its last one, which then does not count
        own = [(x[part.clamp(max=len(y) - 1)], y[part.clamp(max=len(y) - 1)]) for x, y in data]
        y = torch.stack([target for _, target in own])
        logits, counted = stack(torch.stack([x for x, _ in own])), part < counts.unsqueeze(1)
        right += ((logits.argmax(-1) == y) & counted).sum(dim=1)
        loss += (_cross_entropy(logits, y).double() * counted).sum(dim=1)
    return loss / counts, right / counts


def _record(curves: Sequence[Curves], split: str, values: tuple[Tensor, ...]) -> None:
    for name, tensor in zip(("loss", "accuracy"), values, strict=False):
        for curve, value in zip(curves, tensor.tolist(), strict=True):
            curve.setdefault(f"{split}_{name}", []).append(value)


def _check(
    models: Sequence[nn.Module], data: Sequence[Data], orders: Sequence[Tensor], epochs: int, schedule: str
) -> None:
    if schedule not in SCHEDULES:
        raise OptionError(f"schedule={schedule!r} is unknown: {choices(str(schedule), SCHEDULES)}")
    if not len(models) == len(data) == len(orders) or not models:
        raise DataError(
            f"Got {len(models)} models, {len(data)} training sets and {len(orders)} batch orders; "
            "expected one of each for every member."
        )
    shape = (epochs, len(data[0][1]))
    for i, ((x, y), order) in enumerate(zip(data, orders, strict=True)):
        if x.shape != data[0][0].shape or len(y) != shape[1] or order.shape != shape:
            raise DataError(
                f"Member {i} has x {tuple(x.shape)}, y {tuple(y.shape)} and order {tuple(order.shape)}; "
                f"expected x {tuple(data[0][0].shape)}, y ({shape[1]},) and order {shape} like member 0; "
                "train members of other sizes in an ensemble of their own."
            )
