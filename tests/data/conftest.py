"""Small archive folders, wav folders and idx files, written where a test wants them."""

from __future__ import annotations

import gzip
import struct
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

WriteSet = Callable[..., Path]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder that $DATA_PATH names."""
    monkeypatch.setenv("DATA_PATH", str(tmp_path))
    (tmp_path / "UCRArchive_2018").mkdir()
    return tmp_path


@pytest.fixture
def write_ucr(archive: Path) -> WriteSet:
    """write_ucr(name, train_rows, test_rows): lines of text into the archive; returns the set's folder."""

    def write(name: str, train: list[str], test: list[str] | None = None, suffix: str = ".tsv") -> Path:
        folder = archive / "UCRArchive_2018" / name
        folder.mkdir()
        (folder / f"{name}_TRAIN{suffix}").write_text("\n".join(train) + "\n")
        (folder / f"{name}_TEST{suffix}").write_text("\n".join(train if test is None else test) + "\n")
        return folder

    return write


@pytest.fixture
def rows() -> Callable[..., list[str]]:
    """rows(labels, length): tab-separated lines of noise with these labels."""

    def make(labels: list[str], length: int = 8, seed: int = 0) -> list[str]:
        rng = np.random.default_rng(seed)
        return ["\t".join([label, *map(repr, rng.normal(size=length).tolist())]) for label in labels]

    return make


@pytest.fixture
def write_idx() -> Callable[[Path, np.ndarray], None]:
    """write_idx(path, bytes): an idx file, gzipped if the name ends in .gz."""

    def write(path: Path, values: np.ndarray) -> None:
        sizes = struct.pack(f">{values.ndim}i", *values.shape)
        raw = struct.pack(">HBB", 0, 8, values.ndim) + sizes + values.tobytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)

    return write


@pytest.fixture
def write_wav() -> Callable[..., None]:
    """write_wav(path, samples int16, rate): a wav file by the standard library."""

    def write(path: Path, samples: np.ndarray, rate: int = 16000, channels: int = 1) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with wave.open(str(path), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(samples.astype("<i2").tobytes())

    return write
