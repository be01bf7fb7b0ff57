"""The training series of a Lightning run, read once, in order, without touching anybody's random numbers."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, SubsetRandomSampler

from tdi_plugin.errors import DataError


@contextmanager
def untouched_rng() -> Iterator[None]:
    """Restore Python's, NumPy's and torch's CPU generators on leaving.

    Data sets may augment at random and a forward pass may drop out: a paired run must not see it.
    """
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])


def training_loader(trainer: Any) -> DataLoader[Any]:
    """The run's training loader: the module's, the datamodule's, or the one given to ``fit``.

    Raises:
        DataError: there is none, or it is no torch DataLoader.
    """
    source = trainer.fit_loop._data_source
    loader = source.dataloader() if source.is_defined() else None
    if loader is None:
        raise DataError(
            "This run has no training series to measure (no train loader, or train.disable_dataset=true). "
            "Give tdi.spectrum_file=FILE with a saved spectrum, or set model.layer.init=diag-lin."
        )
    if not isinstance(loader, DataLoader):
        raise DataError(
            f"The train loader is a {type(loader).__name__}, expected a torch DataLoader. "
            "Measure with tdi.task_spectrum and give the result as tdi.spectrum_file."
        )
    return loader


def in_order(loader: DataLoader[Any]) -> DataLoader[Any]:
    """The same series once, unshuffled, none dropped, drawing nothing from the global generator."""
    if isinstance(loader.dataset, IterableDataset):
        stream = iter(loader.dataset)
        if inspect.isgenerator(stream) and stream is iter(loader.dataset):
            raise DataError(
                f"The training {type(loader.dataset).__name__} gives one generator for all passes, which "
                "measuring would use up; make a new one in __iter__, or give tdi.spectrum_file."
            )
        return loader
    dataset = loader.dataset
    sampler = getattr(loader.batch_sampler, "sampler", loader.sampler)
    if isinstance(sampler, SubsetRandomSampler):  # the others may be the validation set
        dataset = Subset(dataset, sorted(int(i) for i in sampler.indices))
    if len(dataset) == 0:  # type: ignore[arg-type]
        raise DataError("The training set is empty; check tdi.train_ratio and the data folder.")
    return _unshuffled(loader, dataset)


def batches_of_stream(trainer: Any, loader: DataLoader[Any]) -> int | None:
    """How many batches the run takes of a stream, which may have no end; None where nothing says so."""
    if not isinstance(loader.dataset, IterableDataset):
        return None
    limit = trainer.limit_train_batches
    if isinstance(limit, int):
        return limit
    return trainer.max_steps * trainer.accumulate_grad_batches if trainer.max_steps > 0 else None


def some_of(loader: DataLoader[Any], most: int, seed: int) -> DataLoader[Any]:
    """At most ``most`` of the series, drawn by an own generator; a loader of ready batches stays whole."""
    dataset: Any = loader.dataset
    if isinstance(dataset, IterableDataset) or loader.batch_sampler is None or len(dataset) <= most:
        return loader
    drawn = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(seed))[:most]
    return _unshuffled(loader, Subset(dataset, drawn.sort().values.tolist()))


def _unshuffled(loader: DataLoader[Any], dataset: Any) -> DataLoader[Any]:
    ready = loader.batch_sampler is None  # the items are batches already
    return DataLoader(
        dataset,
        batch_size=None if ready else loader.batch_size or 64,
        shuffle=False,
        collate_fn=loader.collate_fn,
        generator=torch.Generator().manual_seed(0),
    )


def split_batch(batch: Any) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """(x, y, extras) of an s4-style batch ``(x, y[, dict])`` or a plain pair.

    Raises:
        DataError: another structure.
    """
    if not isinstance(batch, (list, tuple)) or len(batch) < 2:
        raise DataError(
            f"A training batch is a {type(batch).__name__}, expected a pair (series, labels). Measure with "
            "tdi.task_spectrum and give the saved result as tdi.spectrum_file."
        )
    x, y, *rest = batch
    for what, values in (("series", x), ("labels", y)):
        if not isinstance(values, torch.Tensor | np.ndarray):
            raise DataError(
                f"The {what} of a training batch are a {type(values).__name__}, expected one tensor. Measure "
                "with tdi.task_spectrum and give the saved result as tdi.spectrum_file."
            )
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    extras = rest[0] if rest and isinstance(rest[0], dict) else {}
    return x, y, extras
