from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset

from tdi_plugin.data import nested_subset, subset_dataset
from tdi_plugin.data.labels import labels_of
from tdi_plugin.data.subset import split_off
from tdi_plugin.errors import DataError, OptionError

labels_strategy = st.lists(st.integers(0, 5), min_size=1, max_size=200)
ratio_strategy = st.floats(0.001, 1.0)


@given(labels_strategy, ratio_strategy, ratio_strategy, st.integers(0, 2**31))
def test_smaller_ratios_are_parts_of_larger_ones(labels, first, second, seed):
    small, large = (set(nested_subset(labels, r, seed).tolist()) for r in sorted((first, second)))
    assert small <= large


@given(labels_strategy, ratio_strategy, st.integers(0, 2**31))
def test_count_and_classes(labels, ratio, seed):
    chosen = nested_subset(labels, ratio, seed)
    assert set(np.array(labels)[chosen]) == set(labels)
    assert len(chosen) == max(len(set(labels)), math.floor(ratio * len(labels) + 0.5))
    assert (np.diff(chosen) > 0).all()


@given(st.lists(st.integers(20, 300), min_size=2, max_size=4), st.floats(0.05, 1.0), st.integers(0, 1000))
def test_every_class_has_its_share(sizes, ratio, seed):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.bincount(labels[nested_subset(labels, ratio, seed)])
    # Each class alone rounds by at most 1; the others' rounding and the guaranteed series shift it further.
    assert np.abs(counts - ratio * np.array(sizes)).max() <= 1 + len(sizes) / 2


def test_ecg5000_like_imbalance_keeps_its_rare_classes():
    labels = np.repeat([0, 1, 2, 3, 4], [292, 177, 10, 19, 2])
    two_percent = nested_subset(labels, 0.02, seed=3)
    assert len(two_percent) == 10
    assert set(labels[two_percent]) == {0, 1, 2, 3, 4}
    assert len(nested_subset(labels, 0.004, seed=3)) == 5


def test_seed_decides_and_global_generators_are_left_alone():
    labels = np.arange(100) % 4
    np.random.seed(1)
    torch.manual_seed(1)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()
    first, again, other = (nested_subset(labels, 0.2, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(before[0], np.random.get_state()[1])
    assert torch.equal(before[1], torch.get_rng_state())


def test_all_members_of_a_class_are_equally_likely():
    labels = np.arange(40) % 2
    counts = sum(np.bincount(nested_subset(labels, 0.25, s), minlength=40) for s in range(2000))
    # Binomial(2000, 1/4): five standard deviations.
    assert np.abs(counts - 500).max() < 5 * math.sqrt(2000 * 0.25 * 0.75)


def test_real_targets_are_drawn_without_strata():
    targets = torch.randn(50, 2)
    assert len(nested_subset(targets, 0.1)) == 5


@pytest.mark.parametrize("ratio", [0.0, -0.1, 1.5, float("nan"), "half"])
def test_ratio_out_of_range(ratio):
    with pytest.raises(OptionError, match=r"outside \(0, 1\]"):
        nested_subset([0, 1], ratio)


def test_no_series():
    with pytest.raises(DataError, match="no series"):
        nested_subset([], 0.5)


def test_split_is_disjoint_complete_stratified_and_keeps_every_class():
    labels = np.repeat([0, 1, 2], [60, 39, 1])
    kept, off = split_off(labels, 0.2, seed=4)
    assert np.array_equal(np.sort(np.concatenate([kept, off])), np.arange(100))
    assert len(off) == 20
    assert set(labels[kept]) == {0, 1, 2}
    assert abs(int((labels[off] == 0).sum()) - 12) <= 1


@pytest.mark.parametrize(("fraction", "error"), [(1.0, OptionError), (0.01, DataError), (0.9, DataError)])
def test_split_that_leaves_nothing(fraction, error):
    with pytest.raises(error, match="val_split"):
        split_off([0, 0, 1, 1], fraction)


class Plain(Dataset):
    """Labels only in its items."""

    def __len__(self):
        return 30

    def __getitem__(self, i):
        if i >= 30:
            raise IndexError(i)
        return torch.zeros(4), i % 3


class Misleading(Plain):
    """An attribute that is not what the items say."""

    targets = (9,) * 30


class Pathlike(Plain):
    def __init__(self):
        self.samples = [(f"{i}.png", i % 3) for i in range(30)]


class Table(Plain):
    column_names = ("input_ids", "label")

    def __getitem__(self, i):
        return [j % 3 for j in range(30)] if i == "label" else {"input_ids": [1], "label": i % 3}


@pytest.mark.parametrize(
    "dataset",
    [Plain(), Misleading(), Pathlike(), Table(), TensorDataset(torch.zeros(30, 4), torch.arange(30) % 3)],
    ids=lambda d: type(d).__name__,
)
def test_labels_of_all_kinds_of_data_sets(dataset):
    assert labels_of(dataset).tolist() == [i % 3 for i in range(30)]
    part = subset_dataset(dataset, 0.2, seed=1)
    assert len(part) == 6
    assert sorted(labels_of(part).tolist()) == [0, 0, 1, 1, 2, 2]


def test_labels_of_parts_and_unions():
    assert labels_of(Subset(Plain(), [2, 4])).tolist() == [2, 1]
    assert len(labels_of(ConcatDataset([Plain(), Pathlike()]))) == 60


def test_whole_data_set_is_left_as_it_is():
    dataset = Plain()
    assert subset_dataset(dataset, 1.0) is dataset


def test_items_without_labels():
    with pytest.raises(DataError, match="no label was found"):
        subset_dataset([torch.zeros(3)] * 4, 0.5)


def test_streams_have_no_parts():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([])

    with pytest.raises(DataError, match="map-style"):
        subset_dataset(Stream(), 0.5)
