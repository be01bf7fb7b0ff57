"""Runs of one architecture trained at once, their parameters stacked, each as if it were alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from tdi_plugin.errors import DataError
from tdi_plugin.nn.memory import reuse_freed_memory
from tdi_plugin.nn.stack import StackedModels, saved_values
from tdi_plugin.sweep.ensemble_scores import measure, record, series_loss, that_fit
from tdi_plugin.sweep.group_data import RunData
from tdi_plugin.sweep.loop import Curves, Optimisation, ticker


def train_ensemble(
    models: Sequence[nn.Module],
    runs: Sequence[RunData],
    orders: Sequence[Tensor],
    options: Optimisation,
    progress: Callable[[float], None] | None = None,
) -> list[Curves]:
    """As ``loop.train_loop``, with the members' parameters stacked; each ends as alone, up to rounding.

    Members share the optimiser's settings and differ in weights, series and order of batches. Each member's
    gradient is clipped by its own norm. The models get their trained parameters and buffers back. As many run
    together as the working set allows: all of a small model, one at a time of a large one.

    Args:
        models: M modules of one class and shape, series (B, L, D) to logits (B, C).
        runs: what each trains, validates and tests on; as many training series for one as for another.
        orders: (epochs, n) from ``loop.batch_order`` for each.
        options: the optimiser's.
        progress: called with the part that is done.

    Returns:
        The curves of each member, as ``loop.train_one`` has them; ``val_accuracy`` where every run has
        validation series, however many.

    Raises:
        DataError: series or orders that don't fit each other.
        OptionError: members of different architecture.
    """
    _check(models, runs, orders, options.epochs)
    if any(run.val is None for run in runs):
        runs = [replace(run, val=None) for run in runs]
    reuse_freed_memory()
    rows = min(options.batch_size, len(runs[0].train))
    cost = max(1, saved_values(models[0], runs[0].train.x[:rows]) // rows)
    together = that_fit(len(models), cost * rows)
    tick = ticker(len(models) * options.epochs, progress)
    curves: list[Curves] = []
    for start in range(0, len(models), together):
        part = slice(start, start + together)
        curves += _train(models[part], runs[part], orders[part], options, cost, tick)
    return curves


def _train(
    models: Sequence[nn.Module],
    runs: Sequence[RunData],
    orders: Sequence[Tensor],
    options: Optimisation,
    cost: int,
    tick: Callable[[], None],
) -> list[Curves]:
    stack = StackedModels(models)
    optimizer = torch.optim.AdamW(stack.groups(options.lr, options.weight_decay), foreach=True)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, options.rate)
    curves: list[Curves] = [{} for _ in models]
    for epoch in range(options.epochs):
        stack.module.train()
        total = torch.zeros(len(models), device=runs[0].train.x.device)
        for x, y in _batches(runs, orders, epoch, options.batch_size):
            losses = series_loss(stack(x), y)
            optimizer.zero_grad()
            losses.mean(dim=1).sum().backward()
            if options.clip is not None:
                stack.clip_grad_norm_(options.clip)
            optimizer.step()
            total += losses.detach().sum(dim=1)
        scheduler.step()
        record(curves, "train_loss", total / len(runs[0].train))
        measure(stack, runs, cost, curves)
        for _ in models:
            tick()
    stack.give_back(models)
    return curves


def _batches(
    runs: Sequence[RunData], orders: Sequence[Tensor], epoch: int, size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """x (M, b, L, D) and y (M, b); members with the same series and order share the gathering of a batch."""
    keys = [(run.train.x.data_ptr(), order.data_ptr()) for run, order in zip(runs, orders, strict=True)]
    first = [keys.index(key) for key in keys]
    for start in range(0, orders[0].shape[1], size):
        rows = {i: orders[i][epoch, start : start + size] for i in set(first)}
        series = {i: runs[i].train.x[index] for i, index in rows.items()}
        labels = [run.train.y[rows[i]] for i, run in zip(first, runs, strict=True)]
        yield torch.stack([series[i] for i in first]), torch.stack(labels)


def _check(
    models: Sequence[nn.Module], runs: Sequence[RunData], orders: Sequence[Tensor], epochs: int
) -> None:
    if not len(models) == len(runs) == len(orders) or not models:
        raise DataError(
            f"Got {len(models)} models, the data of {len(runs)} runs and {len(orders)} batch orders; "
            "expected one of each for every member."
        )
    first = runs[0].train
    shape = (epochs, len(first))
    for i, (run, order) in enumerate(zip(runs, orders, strict=True)):
        x, y = run.train.x, run.train.y
        if x.shape != first.x.shape or len(y) != shape[1] or order.shape != shape:
            raise DataError(
                f"Member {i} has x {tuple(x.shape)}, y {tuple(y.shape)} and order {tuple(order.shape)}; "
                f"expected x {tuple(first.x.shape)}, y ({shape[1]},) and order {shape} like member 0; "
                "train members of other sizes in an ensemble of their own."
            )
        for name, split, expected in (("test", run.test, runs[0].test), ("val", run.val, runs[0].val)):
            if split is None or expected is None or split.x.shape[1:] == expected.x.shape[1:]:
                continue
            raise DataError(
                f"Member {i} has {name} series of shape {tuple(split.x.shape[1:])}; expected "
                f"{tuple(expected.x.shape[1:])} like member 0's: only their number may differ."
            )
