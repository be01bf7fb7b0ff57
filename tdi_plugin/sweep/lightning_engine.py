"""Each run through Lightning's own trainer: slower, and the way that users train."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from tdi_plugin.sweep.group_data import RunData
from tdi_plugin.sweep.loop import Curves, Optimisation, finite, measure, parameter_groups, ticker


class _Batches(Dataset[Any]):
    """Batches of one epoch after another, in the order given."""

    def __init__(self, data: RunData, order: Tensor, batch_size: int) -> None:
        self.data, self.order, self.batch_size, self.epoch = data, order, batch_size, 0

    def __len__(self) -> int:
        return -(-self.order.shape[1] // self.batch_size)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        chosen = self.order[self.epoch].split(self.batch_size)[index]
        return self.data.train.x[chosen], self.data.train.y[chosen]


class _Run(pl.LightningModule):
    def __init__(
        self, model: nn.Module, batches: _Batches, options: Optimisation, tick: Callable[[], None]
    ) -> None:
        super().__init__()
        self.model, self.batches, self.options, self.tick = model, batches, options, tick
        self.curves: Curves = {"train_loss": []}
        self.total = 0.0

    def on_train_epoch_start(self) -> None:
        self.total, self.batches.epoch = 0.0, self.current_epoch
        self.model.train()

    def training_step(self, batch: Any, index: int) -> Tensor:
        x, y = batch
        loss = functional.cross_entropy(self.model(x), y)
        self.total += float(loss.detach()) * len(y)
        return loss

    def on_train_epoch_end(self) -> None:
        data = self.batches.data
        self.curves["train_loss"].append(finite(self.total / len(data.train)))
        measure(self.model, data, self.curves)
        self.model.train()
        self.tick()

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.AdamW(parameter_groups(self.model, self.options))
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, self.options.rate)]


def train_lightning(
    models: Sequence[nn.Module],
    runs: Sequence[RunData],
    orders: Sequence[Tensor],
    options: Optimisation,
    progress: Callable[[float], None] | None = None,
) -> list[Curves]:
    """As ``loop.train_loop``, each run in a ``pytorch_lightning.Trainer`` of its own, on the CPU."""
    tick = ticker(len(models) * options.epochs, progress)
    found = []
    with _quiet():
        for model, data, order in zip(models, runs, orders, strict=True):
            batches = _Batches(data, order, options.batch_size)
            run = _Run(model, batches, options, tick)
            trainer = pl.Trainer(
                max_epochs=options.epochs,
                accelerator="cpu",
                devices=1,
                gradient_clip_val=options.clip,
                logger=False,
                enable_progress_bar=False,
                enable_checkpointing=False,
                enable_model_summary=False,
            )
            trainer.fit(run, DataLoader(batches, batch_size=None, shuffle=False))
            found.append(run.curves)
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    log = logging.getLogger("pytorch_lightning")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
