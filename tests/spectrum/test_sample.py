"""The sample of a stream: bounded, uniform, and the same however the stream is cut."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tdi_plugin.spectrum.batch import Batch, make_batch
from tdi_plugin.spectrum.sample import Sample


def numbered(start: int, stop: int) -> Batch:
    return make_batch(torch.arange(start, stop, dtype=torch.float64)[:, None].expand(-1, 4))


def held(sample: Sample) -> list[int]:
    batch, labels = sample.batch()
    assert torch.equal(batch.series[:, 0, 0], labels.double())
    return batch.series[:, 0, 0].long().tolist()


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdi_plugin.spectrum.sample.MOST_SERIES", 10)


def drawn(seed: int, step: int, rows: int = 40) -> list[int]:
    sample = Sample(seed)
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        sample.add(numbered(start, stop), torch.arange(start, stop))
    return held(sample)


def test_everything_is_kept_while_it_is_little() -> None:
    assert drawn(0, 3, rows=9) == list(range(9))


def test_it_does_not_depend_on_how_the_stream_is_cut() -> None:
    expected = sorted(drawn(5, 40))
    assert len(expected) == 10
    assert all(sorted(drawn(5, step)) == expected for step in (1, 7, 13))


def test_every_series_is_as_likely() -> None:
    counts = np.bincount(np.concatenate([drawn(seed, 8) for seed in range(400)]), minlength=40)
    assert counts.sum() == 4000
    assert 60 < counts.min() <= counts.max() < 145


def test_samples_of_several_processes_join_uniformly() -> None:
    counts = np.zeros(40)
    for seed in range(200):
        parts = []
        for rank, (start, stop) in enumerate([(0, 10), (10, 40)]):
            part = Sample(1000 * rank + seed)
            part.add(numbered(start, stop), torch.arange(start, stop))
            parts.append(part)
        joined = parts[0].with_others(parts[1:])
        assert joined.seen == 40
        assert not joined.complete
        counts += np.bincount(held(joined), minlength=40)
    assert abs(counts[:10].mean() - counts[10:].mean()) < 6


def test_memory_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdi_plugin.spectrum.sample.MOST_BYTES", 9 * 4 * 8)
    assert len(drawn(0, 8)) == 9
