from __future__ import annotations

import pytest
import torch

from tdi_plugin.data import Series, SeriesDataset, collate
from tdi_plugin.data.series import digest_of
from tdi_plugin.errors import DataError


def ragged() -> Series:
    x = torch.arange(12.0).reshape(2, 6, 1)
    x[1, 4:] = 0
    return Series(x, torch.tensor([0, 1]), torch.tensor([6, 4]), ("a", "b"), sample_rate=100.0)


def test_every_second_sample_of_series_lengths_and_rate():
    thin = ragged().every(2)
    assert thin.x[..., 0].tolist() == [[0, 2, 4], [6, 8, 0]]
    assert thin.lengths.tolist() == [3, 2]
    assert thin.sample_rate == 50.0
    odd = Series(torch.zeros(1, 5, 1), None, torch.tensor([5])).every(3)
    assert odd.lengths.tolist() == [odd.x.shape[1]] == [2]


def test_standardised_over_the_valid_part_only():
    series = ragged().standardised()
    for one, n in zip(series.x, series.lengths.tolist(), strict=True):
        torch.testing.assert_close(one[:n].mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
        torch.testing.assert_close(one[:n].std(correction=0), torch.tensor(1.0))
        assert (one[n:] == 0).all()


@pytest.mark.parametrize("level", [0.0, 7.3, -1e6])
def test_constant_series_become_zero(level):
    series = Series(torch.full((1, 100, 1), level), None).standardised()
    assert (series.x == 0).all()


def test_items_and_batches_without_and_with_lengths():
    plain = SeriesDataset(Series(torch.randn(3, 5, 2), torch.tensor([0, 1, 2])))
    x, y, extras = collate([plain[i] for i in range(3)])
    assert x.shape == (3, 5, 2)
    assert y.tolist() == [0, 1, 2]
    assert extras == {}
    x, y, extras = collate([SeriesDataset(ragged())[i] for i in range(2)])
    assert x.shape == (2, 6, 1)
    assert extras["lengths"].tolist() == [6, 4]


def test_tokens_of_different_length_are_padded_with_zero():
    items = [(torch.tensor([5, 6, 7]), 1, 3), (torch.tensor([8]), 0, 1)]
    x, y, extras = collate(items)
    assert x.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert x.dtype == torch.int64
    assert y.tolist() == [1, 0]
    assert extras["lengths"].tolist() == [3, 1]


def test_digest_follows_values_labels_and_lengths():
    base = ragged()
    others = [
        Series(base.x + 1, base.y, base.lengths),
        Series(base.x, base.y.flip(0), base.lengths),
        Series(base.x, base.y, torch.tensor([6, 5])),
        Series(base.x.reshape(2, 3, 2), base.y, base.lengths),
    ]
    assert len({series.digest() for series in [base, *others]}) == 5
    assert base.digest() == ragged().digest()
    assert digest_of(base, others[0]) != digest_of(others[0], base)


def test_unlabelled_series_are_no_training_set():
    with pytest.raises(DataError, match="without labels"):
        SeriesDataset(Series(torch.zeros(1, 2, 1), None))
