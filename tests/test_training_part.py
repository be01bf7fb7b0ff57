"""A part of the training set: stratified, kept through a second setup, refused where it cannot train."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch.utils.data import TensorDataset

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.training_part import check_batches, limit_training_set

WHOLE = TensorDataset(torch.arange(40.0).view(20, 2), torch.arange(20) % 2)


class Sets:
    """A data set in s4's manner: every setup builds the training set anew."""

    def setup(self) -> None:
        self.dataset_train = WHOLE


@pytest.mark.parametrize("dataset", [None, WHOLE])
def test_a_ratio_needs_a_training_set_to_limit(dataset: TensorDataset | None) -> None:
    with pytest.raises(OptionError, match="subset_dataset"):
        limit_training_set(dataset, 0.5, 0)


def test_the_part_is_stratified_and_stays_through_a_second_setup() -> None:
    sets = Sets()
    sets.setup()
    limit_training_set(sets, 0.4, 0)
    first = [float(x[0]) for x, _ in sets.dataset_train]
    assert sorted(int(y) for _, y in sets.dataset_train) == [0] * 4 + [1] * 4
    sets.setup()
    assert [float(x[0]) for x, _ in sets.dataset_train] == first


def test_the_whole_set_is_left_alone() -> None:
    sets = Sets()
    sets.setup()
    limit_training_set(sets, 1.0, 0)
    assert sets.dataset_train is WHOLE
    assert "setup" not in vars(sets)


def test_a_part_smaller_than_a_batch_that_would_be_dropped_is_refused() -> None:
    part = SimpleNamespace(_tdi_limited=True, dataset_train=WHOLE)
    check_batches(part, {"drop_last": True, "batch_size": 20})
    check_batches(part, {"drop_last": False, "batch_size": 21})
    with pytest.raises(DataError, match=r"20 series and a batch 21.*loader.batch_size=20 at most"):
        check_batches(part, {"drop_last": True, "batch_size": 21})
