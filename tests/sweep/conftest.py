"""A tiny UCR-style archive whose two classes differ by frequency, and studies on it that take a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdi_plugin.sweep.group_data import load_group_data
from tdi_plugin.sweep.study import Study


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """$DATA_PATH with two sets, Tiny and Small, of 24 training and 30 test series of 32 samples."""
    root = tmp_path_factory.mktemp("data")
    for number, name in enumerate(("Tiny", "Small")):
        folder = root / "UCRArchive_2018" / name
        folder.mkdir(parents=True)
        rng = np.random.default_rng(number)
        for part, n in (("TRAIN", 24), ("TEST", 30)):
            labels = np.arange(n) % 2
            phase = 2 * np.pi * rng.random((n, 1))
            tone = np.sin(2 * np.pi * np.where(labels, 0.2, 0.3)[:, None] * np.arange(32) + phase)
            table = np.column_stack([labels + 1, tone + 0.3 * rng.normal(size=tone.shape)])
            np.savetxt(folder / f"{name}_{part}.tsv", table, delimiter="\t", fmt=["%d"] + ["%.5f"] * 32)
    return root


@pytest.fixture
def tiny(archive: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Study]:
    """Make a study on the tiny archive; keywords change its settings."""
    monkeypatch.setenv("DATA_PATH", str(archive))
    load_group_data.cache_clear()

    def make(**settings: Any) -> Study:
        base = {
            "name": "tiny", "datasets": ["Tiny", "Small"], "ratios": [0.25, 0.5], "seeds": 2, "epochs": 2,
            "models": ["one-power"], "arms": ["lin", "fisher"], "engine": "loop",
        }  # fmt: skip
        return Study.of({**base, **settings})

    return make
