"""TaskSpectrum as a value: consistent, and the same after a journey through a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum import TaskSpectrum, task_spectrum

Make = Callable[..., tuple[np.ndarray, np.ndarray]]


def test_density_sums_to_one_without_dc() -> None:
    spectrum = TaskSpectrum(torch.tensor([5.0, 1.0, 3.0]), length=4, statistic="flat")
    assert spectrum.density.tolist() == [0.0, 0.25, 0.75]
    assert spectrum.frequencies.tolist() == [0.0, 0.25, 0.5]
    assert spectrum.power.dtype == torch.float64


@pytest.mark.parametrize("name", ["spectrum.npz", "spectrum", "run.v2"])
def test_a_saved_spectrum_comes_back_whole(make_series: Make, tmp_path: Path, name: str) -> None:
    x, y = make_series(channels=2)
    spectrum = task_spectrum(x, y, sample_rate=250.0, permutations=20)
    path = spectrum.save(tmp_path / "deep" / name)
    assert path.name == (name if name.endswith(".npz") else f"{name}.npz")
    for given in (path, tmp_path / "deep" / name):
        loaded = TaskSpectrum.load(given)
        for field in fields(TaskSpectrum):
            before, after = getattr(spectrum, field.name), getattr(loaded, field.name)
            assert torch.equal(before, after) if isinstance(before, torch.Tensor) else before == after, (
                field.name
            )


def test_files_that_hold_no_spectrum(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No task spectrum at"):
        TaskSpectrum.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no arrays here")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 cut short")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", meta=np.array([{"a": 1}], dtype=object))
    for name in ("text", "cut", "other", "pickled"):
        with pytest.raises(DataError, match="not a saved task spectrum"):
            TaskSpectrum.load(tmp_path / f"{name}.npz")


@pytest.mark.parametrize(
    ("power", "message"),
    [
        (torch.ones(4), "length 4 needs"),
        (torch.tensor([0.0, torch.nan, 1.0]), "NaN"),
        (torch.tensor([0.0, -1.0, 1.0]), "negative"),
        (torch.tensor([0.0, 1.5e308, 1.5e308], dtype=torch.float64), "too large"),
        (torch.tensor([1.0, 0.0, 0.0]), "zero at every frequency but DC"),
    ],
)
def test_impossible_spectra_are_refused(power: torch.Tensor, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TaskSpectrum(power, length=4, statistic="fisher")
