"""All runs of a group as one vectorised ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from tdi_plugin.sweep.group_data import RunData
from tdi_plugin.sweep.loop import Curves, Optimisation, finite

KEPT = ("train_loss", "test_accuracy", "test_loss", "val_accuracy")


def train_vectorised(
    models: Sequence[nn.Module],
    runs: Sequence[RunData],
    orders: Sequence[Tensor],
    options: Optimisation,
    progress: Callable[[float], None] | None = None,
) -> list[Curves]:
    """As ``loop.train_loop``, with the members' parameters stacked."""
    from tdi_plugin.sweep.ensemble import train_ensemble

    validation = [(run.val.x, run.val.y) for run in runs if run.val is not None]
    found = train_ensemble(
        list(models),
        [(run.train.x, run.train.y) for run in runs],
        runs[0].test.x,
        runs[0].test.y,
        epochs=options.epochs,
        batch_size=options.batch_size,
        lr=options.lr,
        weight_decay=options.weight_decay,
        clip=options.clip,
        batch_orders=list(orders),
        progress=progress,
        schedule=options.schedule,
        validation=validation if len(validation) == len(runs) else None,
    )
    return [{name: list(map(finite, curve[name])) for name in KEPT if name in curve} for curve in found]
