"""One run after another: the plain training loop that every other engine must agree with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tdi_plugin.nn.memory import reuse_freed_memory
from tdi_plugin.sweep.group_data import RunData, Split

Curves = dict[str, list[float | None]]
EVAL_BATCH = 64
"""So many series at a time stay in a core's cache: twice as fast as 512 on a two-block model."""


@dataclass(frozen=True)
class Optimisation:
    """AdamW; SSM parameters carry their own options in ``_optim``."""

    epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    clip: float | None = None
    schedule: str = "constant"

    def rate(self, epoch: int) -> float:
        """Factor of every learning rate in an epoch (from 0)."""
        return 0.5 * (1 + math.cos(math.pi * epoch / self.epochs)) if self.schedule == "cosine" else 1.0


def batch_order(n_series: int, epochs: int, seed: int) -> Tensor:
    """(epochs, n) int64: the order in which each epoch visits the series; cut into batches, none dropped."""
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(n_series, generator=generator) for _ in range(epochs)])


def parameter_groups(model: nn.Module, options: Optimisation) -> list[dict[str, object]]:
    """AdamW's groups: parameters with ``_optim`` by those options, all others by the run's."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for parameter in model.parameters():
        own = getattr(parameter, "_optim", {})
        key = (own.get("lr", options.lr), own.get("weight_decay", options.weight_decay))
        groups.setdefault(key, []).append(parameter)
    return [{"params": params, "lr": lr, "weight_decay": decay} for (lr, decay), params in groups.items()]


def train_one(
    model: nn.Module,
    data: RunData,
    order: Tensor,
    options: Optimisation,
    progress: Callable[[], None] | None = None,
) -> Curves:
    """Train in place and measure after every epoch.

    Args:
        model: (B, L, D) to logits (B, C).
        data: what it trains, validates and tests on.
        order: (epochs, n) from ``batch_order``.
        options: the optimiser's.
        progress: called after every epoch.

    Returns:
        ``train_loss``, ``test_accuracy``, ``test_loss`` and, with validation series, ``val_accuracy``: a
        value an epoch, None where it is not finite.
    """
    optimizer = torch.optim.AdamW(parameter_groups(model, options))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, options.rate)
    curves: Curves = {"train_loss": []}
    for epoch in range(options.epochs):
        model.train()
        total = 0.0
        for index in order[epoch].split(options.batch_size):
            loss = functional.cross_entropy(model(data.train.x[index]), data.train.y[index])
            optimizer.zero_grad()
            loss.backward()
            if options.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), options.clip)
            optimizer.step()
            total += float(loss.detach()) * len(index)
        scheduler.step()
        curves["train_loss"].append(finite(total / order.shape[1]))
        measure(model, data, curves)
        if progress is not None:
            progress()
    return curves


def measure(model: nn.Module, data: RunData, curves: Curves) -> None:
    """Append an epoch's ``test_accuracy``, ``test_loss`` and, with validation series, ``val_accuracy``."""
    accuracy, loss = evaluate(model, data.test)
    curves.setdefault("test_accuracy", []).append(finite(accuracy))
    curves.setdefault("test_loss", []).append(finite(loss))
    if data.val is not None:
        curves.setdefault("val_accuracy", []).append(finite(evaluate(model, data.val)[0]))


@torch.no_grad()
def evaluate(model: nn.Module, split: Split) -> tuple[float, float]:
    """Accuracy and mean cross-entropy in evaluation mode."""
    model.eval()
    right, loss = 0, 0.0
    for x, y in zip(split.x.split(EVAL_BATCH), split.y.split(EVAL_BATCH), strict=True):
        logits = model(x)
        right += int((logits.argmax(-1) == y).sum())
        loss += float(functional.cross_entropy(logits, y, reduction="sum"))
    return right / len(split), loss / len(split)


def train_loop(
    models: Sequence[nn.Module],
    runs: Sequence[RunData],
    orders: Sequence[Tensor],
    options: Optimisation,
    progress: Callable[[float], None] | None = None,
) -> list[Curves]:
    """Train the members one after another; ``progress`` gets the part that is done."""
    reuse_freed_memory()
    tick = ticker(len(models) * options.epochs, progress)
    return [train_one(m, d, o, options, tick) for m, d, o in zip(models, runs, orders, strict=True)]


def ticker(total: int, progress: Callable[[float], None] | None) -> Callable[[], None]:
    """To be called ``total`` times; passes the part that is done on to ``progress``."""
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / total)

    return tick


def finite(value: float) -> float | None:
    """The value to five digits, or None where it is not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None
