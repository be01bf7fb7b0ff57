"""What is read of a run's training loader: all that trains, nothing else, each series once."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, SubsetRandomSampler, TensorDataset

from tdi_plugin.errors import DataError
from tdi_plugin.run_spectrum import RunSeries
from tdi_plugin.training_data import in_order, split_batch

X, Y = torch.arange(12.0).repeat(4, 1).T, torch.arange(12) % 2
PAIRS = TensorDataset(X, Y)


class Stream(IterableDataset):
    def __init__(self, count: int, once: bool = False) -> None:
        self.count = count
        self.only = self.items() if once else None

    def items(self):
        yield from (PAIRS[i] for i in range(self.count))

    def __iter__(self):
        return self.only or self.items()


def first_values(loader: DataLoader) -> list[float]:
    return [float(v) for x, _ in in_order(loader) for v in x[:, 0]]


def test_series_that_a_subset_sampler_keeps_from_training_are_not_read():
    sampler = SubsetRandomSampler([7, 2, 5])
    assert first_values(DataLoader(PAIRS, batch_size=2, sampler=sampler)) == [2, 5, 7]


def test_items_that_are_batches_already_are_not_put_together():
    batches = TensorDataset(X.view(3, 4, 4), Y.view(3, 4))
    assert first_values(DataLoader(batches, batch_size=None)) == list(range(12))


def test_a_stream_is_read_whole_if_it_can_be_read_again():
    assert first_values(DataLoader(Stream(5), batch_size=2)) == list(range(5))
    with pytest.raises(DataError, match="one generator for all passes"):
        in_order(DataLoader(Stream(5, once=True), batch_size=2))


def test_a_stream_without_series_is_told():
    with pytest.raises(DataError, match="gave no batch"):
        RunSeries(in_order(DataLoader(Stream(0), batch_size=2)), torch.nn.Identity())


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ({"x": X, "y": Y}, "batch is a dict"),
        ((X, ("a", "b")), "labels of a training batch are a tuple"),
        (([X, X], Y), "series of a training batch are a list"),
    ],
)
def test_batches_of_another_form_are_told_what_to_do(batch, words):
    with pytest.raises(DataError, match=rf"{words}.*spectrum_file"):
        split_batch(batch)


def test_arrays_are_taken_as_tensors():
    x, y, extras = split_batch((np.ones((2, 3)), np.array([0, 1]), {"lengths": 1}))
    assert (tuple(x.shape), y.tolist(), extras) == ((2, 3), [0, 1], {"lengths": 1})
