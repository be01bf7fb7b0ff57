"""Files that are no saved spectrum, whatever they hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tdi_plugin import DataError, TaskSpectrum


def meta(**values):
    return np.array(json.dumps({"format": 1, "length": 4, "statistic": "power", **values}))


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"meta": meta()},
        {"meta": np.array("[1, 2]"), "power": np.ones(3)},
        {"meta": meta(surprise=1), "power": np.ones(3)},
        {"meta": meta(), "power": np.array(["a", "b", "c"])},
        {"meta": meta(format=2), "power": np.ones(3)},
        {"meta": meta(length=9), "power": np.ones(3)},
    ],
)
def test_foreign_archive_is_refused(tmp_path, arrays):
    np.savez(tmp_path / "foreign.npz", **arrays)
    with pytest.raises(DataError, match=r"foreign\.npz"):
        TaskSpectrum.load(tmp_path / "foreign.npz")


def test_bare_array_is_refused(tmp_path):
    np.save(tmp_path / "bare.npy", np.ones(3))
    with pytest.raises(DataError, match=r"bare\.npy is not a saved task spectrum"):
        TaskSpectrum.load(tmp_path / "bare.npy")
