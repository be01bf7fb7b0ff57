"""Labels: names to class numbers, and the labels of any torch data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import ConcatDataset, Subset

from tdi_plugin.errors import DataError

_ATTRIBUTES = ("labels", "targets", "y")
_COLUMNS = ("label", "labels", "Target", "target")


def class_names(*label_sets: Sequence[str]) -> tuple[str, ...]:
    """The distinct names of all sets: in numeric order where all are numbers, else in alphabetical order.

    >>> class_names(["10", "2", "-1"])
    ('-1', '2', '10')
    """
    names = {name for labels in label_sets for name in labels}
    try:
        return tuple(sorted(names, key=float))
    except ValueError:
        return tuple(sorted(names))


def encode(labels: Sequence[str], classes: Sequence[str]) -> NDArray[np.int64]:
    """(n,) class numbers 0..C-1 by position in ``classes``."""
    number = {name: index for index, name in enumerate(classes)}
    return np.array([number[name] for name in labels], dtype=np.int64)


def tidy(label: str) -> str:
    """A label as people write it: '1' for '1.0' and '1.0000000e+00', names unchanged."""
    label = label.strip().strip("'\"")
    try:
        value = float(label)
    except ValueError:
        return label
    return str(int(value)) if value.is_integer() else repr(value)


def labels_of(dataset: Any) -> NDArray[Any]:
    """(n,) labels, or (n, ...) targets, of a map-style data set, without loading its series where possible.

    Looks at Subset and ConcatDataset parts, the usual attributes (labels, targets, y, tensors, samples) and
    the columns of a Hugging Face table; else reads every item. An attribute is checked against two items.

    Raises:
        DataError: no length, or items that hold no label.
    """
    if isinstance(dataset, Subset):
        return labels_of(dataset.dataset)[np.asarray(dataset.indices, dtype=np.int64)]
    if isinstance(dataset, ConcatDataset):
        return np.concatenate([labels_of(part) for part in dataset.datasets])
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise DataError(
            f"A {type(dataset).__name__} has no length or no numbered items, so no part of it can be chosen; "
            "expected a map-style torch data set. Use tdi.train_ratio=1."
        )
    known = _declared(dataset)
    if known is not None and len(known) == len(dataset) and _agrees(known, dataset):
        return known
    if len(dataset) == 0:
        return np.zeros(0, np.int64)
    return np.stack([_label(dataset[i]) for i in range(len(dataset))])


def _declared(dataset: Any) -> NDArray[Any] | None:
    for column in _COLUMNS:
        if column in (getattr(dataset, "column_names", None) or ()):
            return np.asarray(dataset[column])
    for name in _ATTRIBUTES:
        if isinstance(values := getattr(dataset, name, None), (torch.Tensor, np.ndarray, list, tuple)):
            return np.asarray(values)
    tensors: Any = getattr(dataset, "tensors", ())
    if len(tensors) > 1:
        return np.asarray(tensors[1])
    samples = getattr(dataset, "samples", None)
    if isinstance(samples, list) and samples and isinstance(samples[0], tuple):
        return np.asarray([sample[-1] for sample in samples])
    return None


def _agrees(known: NDArray[Any], dataset: Any) -> bool:
    return all(np.array_equal(known[i], _label(dataset[i])) for i in {0, len(dataset) - 1} if len(dataset))


def _label(item: Any) -> NDArray[Any]:
    if isinstance(item, dict):
        for column in _COLUMNS:
            if column in item:
                return np.asarray(item[column])
    elif isinstance(item, (tuple, list)) and len(item) > 1:
        return np.asarray(item[1])
    raise DataError(
        f"An item of the data set is a {type(item).__name__} in which no label was found; "
        "expected a pair (series, label). Use tdi.train_ratio=1, or give the data set a `labels` attribute."
    )
