"""Series for the spectra to be measured on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Made = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def make_series() -> Callable[..., Made]:
    """Noise, a wave of free phase and one of fixed phase; the strength of both follows the class."""

    def make(rows: int = 90, length: int = 61, classes: int = 3, channels: int = 0, seed: int = 0) -> Made:
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(rows) % classes)
        shape, time = (rows, length, max(channels, 1)), np.arange(length)[:, None]
        x = rng.normal(size=shape)
        level = y[:, None, None]
        x += (1.0 + level) * np.sin(2 * np.pi * 0.1 * time + rng.uniform(0, 6, (rows, 1, shape[2])))
        x += level * np.cos(2 * np.pi * 0.3 * time)
        return (x if channels else x[..., 0]), y

    return make
