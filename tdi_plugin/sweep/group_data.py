"""The series of one data set as tensors, and what each seed trains, validates and tests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import DataError, OptionError, check_options

MAX_VALIDATION = 100


@dataclass(frozen=True)
class Split:
    """x (n, L, D) float32, or (n, L) int64 tokens; y (n,) int64."""

    x: Tensor
    y: Tensor

    def at(self, indices: Any) -> Split:
        """The series of those positions."""
        index = torch.as_tensor(indices)
        return Split(self.x[index], self.y[index])

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class RunData:
    """What one run sees. ``val`` is None where no series is left to validate on."""

    train: Split
    val: Split | None
    test: Split


@dataclass(frozen=True)
class GroupData:
    """One data set, read once."""

    full: Split
    """The whole training set."""
    val: Split | None
    """The data set's own validation set (at most MAX_VALIDATION of it), if it has one."""
    test: Split
    d_output: int
    n_tokens: int | None
    digest: str
    source: dict[str, Any]

    @property
    def length(self) -> int:
        """L, samples in a series."""
        return self.full.x.shape[1]

    @property
    def chance(self) -> float:
        """Share of the most frequent class in the test set."""
        return float(self.test.y.bincount().max()) / len(self.test)

    def run(self, ratio: float, seed: int) -> RunData:
        """The seed's stratified nested subset, and series to validate on.

        Without a validation set of its own the data set gives training series that the subset leaves out (at
        most MAX_VALIDATION of them, stratified); at ratio 1 there are none.
        """
        from tdi_plugin.data import nested_subset

        chosen = nested_subset(self.full.y, ratio, seed)
        val = self.val
        if val is None:
            left = torch.ones(len(self.full), dtype=torch.bool)
            left[torch.as_tensor(chosen)] = False
            rest = self.full.at(left.nonzero().squeeze(1))
            val = limited(rest, MAX_VALIDATION, seed) if len(rest) else None
        return RunData(self.full.at(chosen), val, self.test)


def limited(split: Split, most: int | None, seed: int = 0) -> Split:
    """At most ``most`` of the series, but one of each class: stratified, the same for a seed."""
    from tdi_plugin.data import nested_subset

    if most is None or len(split) <= most:
        return split
    return split.at(nested_subset(split.y, most / len(split), seed))


@lru_cache(maxsize=32)
def load_group_data(
    name: str, stride: int = 1, max_test: int | None = None, options: tuple[tuple[str, Any], ...] = ()
) -> GroupData:
    """Read a data set of the registry, or a UCR set, by name.

    Args:
        name: of the set.
        stride: keep every stride-th sample.
        max_test: keep at most so many test series.
        options: (name, value) pairs for the set's class.

    Raises:
        DataError: no such data set (with the nearest name), series of unequal length, or real targets.
        OptionError: an option that the set does not have.
    """
    task = _task(name, dict(options))
    task.setup()
    source = task.provenance()
    # a store moves between machines: names of files and folders without what leads to them
    if "files" in source:
        source["files"] = [Path(file).name for file in source["files"]]
    if "folder" in source:
        source["folder"] = Path(source["folder"]).name
    full, test = _stack(task.dataset_train, name, stride), _stack(task.dataset_test, name, stride)
    val = None
    if task.dataset_val is not task.dataset_test:
        val = limited(_stack(task.dataset_val, name, stride), MAX_VALIDATION)
    source["validation"] = "its own set" if val is not None else "training series that the subset leaves out"
    digest = str(source.get("sha256") or source.get("hash"))
    return GroupData(full, val, limited(test, max_test), task.d_output, task.n_tokens, digest, source)


def _task(name: str, options: dict[str, Any]) -> SeriesTask:
    from tdi_plugin.data import UCR, build, registry

    if name in registry:
        return build(name, **options)
    if "name" in options:
        raise OptionError(
            f"data: {name} has the option name={options['name']!r}; list that set in datasets instead."
        )
    check_options(f"Data set {name!r}", options, UCR)
    return UCR(name, **options)


def _stack(dataset: Any, name: str, stride: int) -> Split:
    """All items of a data set; token sequences are padded with 0, which then counts as a token."""
    if torch.as_tensor(dataset[0][1]).is_floating_point():
        raise DataError(
            f"{name} has real targets, and paired studies compare accuracies of classes; leave it out."
        )
    unequal = DataError(
        f"{name} has series of unequal length, which paired studies do not take; pad or cut them."
    )
    series = getattr(dataset, "series", None)
    if series is not None:
        if series.lengths is not None and bool((series.lengths != series.x.shape[1]).any()):
            raise unequal
        return Split(series.x[:, ::stride].contiguous(), series.y)
    items = [dataset[i] for i in range(len(dataset))]
    pieces = [torch.as_tensor(item[0])[::stride] for item in items]
    if pieces[0].is_floating_point() and len({len(piece) for piece in pieces}) != 1:
        raise unequal
    return Split(pad_sequence(pieces, batch_first=True), torch.tensor([int(item[1]) for item in items]))
