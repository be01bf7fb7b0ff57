"""Smaller training sets: stratified, and nested, so that 2 % of the series are part of 4 % of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch.utils.data import Dataset, Subset

from tdi_plugin.data.labels import labels_of
from tdi_plugin.errors import DataError, OptionError

_SUBSET_STREAM, _SPLIT_STREAM = 0, 1


def stratified_order(labels: ArrayLike, seed: int, stream: int = _SUBSET_STREAM) -> NDArray[np.int64]:
    """An order (n,) of all series of which every beginning is stratified.

    The i-th of a class's n_c series (in shuffled order) stands at (i + 1/2)/n_c, so that classes advance at
    equal relative speed; the first of each class comes before everything else.
    Real-valued targets are one class.
    """
    strata = _strata(labels)
    rng = np.random.default_rng([seed, stream])
    shuffled = rng.permutation(len(strata))
    position = np.empty(len(strata))
    for stratum in np.unique(strata):
        members = shuffled[strata[shuffled] == stratum]
        position[members] = (np.arange(len(members)) + 0.5) / len(members)
        position[members[0]] = 0.0
    return shuffled[np.argsort(position[shuffled], kind="stable")]


def nested_subset(labels: ArrayLike, ratio: float, seed: int = 0) -> NDArray[np.int64]:
    """Sorted indices of about ``ratio * n`` series, every class kept, nested in ``ratio`` for a given seed.

    Args:
        labels: (n,) class labels; real-valued targets (n,) or (n, d) are drawn without strata.
        ratio: part of the series, in (0, 1].
        seed: of this choice alone; the global generators are neither read nor moved.

    Returns:
        max(C, round(ratio * n)) indices, C being the number of classes.

    Raises:
        OptionError: ``ratio`` outside (0, 1].
        DataError: no series.
    """
    if not (isinstance(ratio, (int, float)) and 0.0 < ratio <= 1.0):
        raise OptionError(f"Training ratio {ratio!r} is outside (0, 1]; give the part of the series to keep.")
    n_classes = len(np.unique(_strata(labels)))
    order = stratified_order(labels, seed)
    count = max(n_classes, int(np.floor(ratio * len(order) + 0.5)))
    return np.sort(order[:count])


def split_off(
    labels: ArrayLike, fraction: float, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(kept, split off): sorted indices of a stratified split in which every class keeps at least one series.

    Raises:
        OptionError: ``fraction`` outside (0, 1).
        DataError: too few series for a split of that size.
    """
    if not (isinstance(fraction, (int, float)) and 0.0 < fraction < 1.0):
        raise OptionError(f"val_split={fraction!r} is outside [0, 1); give a part of the training set.")
    strata = _strata(labels)
    order = stratified_order(labels, seed, _SPLIT_STREAM)
    n_off, n_classes = int(np.floor(fraction * len(order) + 0.5)), len(np.unique(strata))
    n_kept = len(order) - n_off
    if n_off == 0 or n_kept < n_classes:
        raise DataError(
            f"val_split={fraction} of {len(order)} training series in {n_classes} classes leaves {n_kept} to "
            f"train on and {n_off} to validate on; both need some. Change val_split (0 uses the test set)."
        )
    return np.sort(order[:n_kept]), np.sort(order[n_kept:])


def subset_dataset(dataset: Dataset[Any], ratio: float, seed: int = 0) -> Dataset[Any]:
    """The nested stratified part of any map-style data set; the data set itself for ratio 1.

    Raises:
        DataError: the labels of the data set cannot be told.
        OptionError: ``ratio`` outside (0, 1].
    """
    if ratio == 1.0:
        return dataset
    return Subset(dataset, nested_subset(labels_of(dataset), ratio, seed).tolist())


def _strata(labels: ArrayLike) -> NDArray[Any]:
    values = np.asarray(labels)
    if values.ndim == 0 or len(values) == 0:
        raise DataError("There are no series to choose from (no labels came); check the data folder.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 1 or values.dtype.kind == "f":
        return np.zeros(len(values), dtype=np.int64)
    return values
