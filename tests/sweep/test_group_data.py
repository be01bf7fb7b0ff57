from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tdi_plugin.errors import DataError
from tdi_plugin.sweep.group_data import MAX_VALIDATION, load_group_data

LISTOPS = {
    "source": "generate",
    "n_train": 40,
    "n_val": 150,
    "n_test": 30,
    "min_length": 20,
    "max_length": 60,
}


def test_tokens_are_padded_and_a_large_validation_set_is_cut() -> None:
    data = load_group_data("tdi_listops", options=tuple(LISTOPS.items()))
    assert data.full.x.dtype == torch.int64
    assert data.full.x.shape[0] == 40
    lengths = (data.full.x != 0).sum(dim=1)
    assert int(lengths.max()) == data.length
    assert len(set(lengths.tolist())) > 1
    assert data.val is not None
    assert len(data.val) == MAX_VALIDATION


def test_series_of_unequal_length_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "UCRArchive_2018" / "Uneven"
    folder.mkdir(parents=True)
    rows = np.random.default_rng(0).normal(size=(6, 13))
    rows[:, 0] = np.arange(6) % 2
    rows[0, -3:] = np.nan
    for part in ("TRAIN", "TEST"):
        np.savetxt(folder / f"Uneven_{part}.tsv", rows, delimiter="\t")
    monkeypatch.setenv("DATA_PATH", str(tmp_path))
    with pytest.raises(DataError, match="Uneven has series of unequal length"):
        load_group_data("Uneven")


def test_stride_keeps_every_second_sample() -> None:
    small = (("n_train", 20), ("n_val", 20), ("n_test", 20), ("length", 64), ("n_classes", 4))
    whole, half = (
        load_group_data("tdi_freqcls", 1, None, small),
        load_group_data("tdi_freqcls", 2, None, small),
    )
    assert torch.equal(half.full.x, whole.full.x[:, ::2])
    assert half.val is not None
    assert half.val.x.shape[1] == half.test.x.shape[1] == half.length == 32


def test_no_path_of_this_machine_is_noted(data_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_PATH", str(data_path))
    for name, options in (("tdi_mnist", ()), ("GunPoint", ())):
        source = load_group_data(name, 1, 10, options).source
        assert str(data_path) not in str(source)
        assert "/" not in str(source.get("folder", ""))
