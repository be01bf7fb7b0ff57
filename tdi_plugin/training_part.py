"""A stratified part of a run's training set, for runs with few series: the option ``train_ratio``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MethodType
from typing import Any

from tdi_plugin.data.subset import subset_dataset
from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.training_data import untouched_rng


def limit_training_set(dataset: Any, ratio: float, seed: int) -> None:
    """Keep a stratified part of ``dataset.dataset_train``, now and after every later ``dataset.setup()``.

    s4's module calls ``setup()`` again after the callbacks did theirs, which rebuilds the full set: the
    instance's own ``setup`` is therefore wrapped, once.
    """
    if ratio >= 1.0 or getattr(dataset, "_tdi_limited", False):
        return
    if not (hasattr(dataset, "dataset_train") and callable(getattr(dataset, "setup", None))):
        raise OptionError(
            f"train_ratio={ratio} was given, but this module has no `dataset` with `dataset_train` to limit. "
            "Build your loader on tdi_plugin.data.subset_dataset(train_set, ratio, seed) instead."
        )
    setup = dataset.setup

    def take_part(self: Any) -> None:
        # Some data sets build only once and return early from a second setup: their part is taken already.
        if self.dataset_train is not getattr(self, "_tdi_part", None):
            # Telling the labels reads items, which may be augmented at random.
            with untouched_rng():
                self._tdi_part = self.dataset_train = subset_dataset(self.dataset_train, ratio, seed)

    def limited(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = setup(*args, **kwargs)
        take_part(self)
        return result

    dataset.setup = MethodType(limited, dataset)
    dataset._tdi_limited = True
    take_part(dataset)


def check_batches(dataset: Any, loader: Mapping[str, Any]) -> None:
    """Refuse a training subset of which ``drop_last`` would leave no batch at all.

    Raises:
        DataError: fewer series than one batch holds.
    """
    if not getattr(dataset, "_tdi_limited", False) or not loader.get("drop_last"):
        return
    series, batch = len(dataset.dataset_train), int(loader.get("batch_size") or 1)
    if series < batch:
        raise DataError(
            f"The training subset has {series} series and a batch {batch}: loader.drop_last=true leaves "
            f"nothing to train on. Set loader.drop_last=false, or loader.batch_size={series} at most."
        )
