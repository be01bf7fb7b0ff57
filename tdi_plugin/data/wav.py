"""Wave files: one, or a folder of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdi_plugin._optional import require
from tdi_plugin.errors import DataError

log = logging.getLogger("tdi_plugin")


def read_wav(path: Path) -> tuple[NDArray[np.int16], int]:
    """One channel (L,) of 16-bit samples (several channels are averaged) and the sampling rate in Hz.

    Raises:
        DataError: a file that cannot be read, or without samples.
    """
    soundfile: Any = require("soundfile", extra="audio", for_="reading audio")
    try:
        samples, rate = soundfile.read(str(path), dtype="int16", always_2d=True)
    except (OSError, RuntimeError) as error:
        raise DataError(f"{path} is not a readable audio file: {error}") from error
    if len(samples) == 0:
        raise DataError(f"{path} is an audio file without samples.")
    mono = samples[:, 0] if samples.shape[1] == 1 else np.rint(samples.mean(axis=1)).astype(np.int16)
    return mono, rate


def read_wave_folder(folder: Path) -> tuple[NDArray[np.float32], list[str] | None, NDArray[np.int64], float]:
    """All wav files below a folder, the name of a file's folder being its class.

    Returns:
        values (n, L) in -1..1, classes (None where the files lie in ``folder`` itself), lengths (n,), rate
        in Hz. Files that cannot be read, or of another rate than the first, are left out and named in the
        log.

    Raises:
        DataError: no wav file that can be used.
    """
    files = sorted(folder.rglob("*.wav"))
    used, unreadable, rate = [], [], 0
    for file in files:
        try:
            samples, found = read_wav(file)
            rate = rate or found
            if found != rate:
                raise DataError(f"{file} has {found} samples a second, the first file {rate}.")
            used.append((file, samples))
        except DataError as error:
            unreadable.append(str(error))
    if not used:
        raise DataError(
            f"{folder} has no wav file that can be used ({len(files)} found). {' '.join(unreadable[:1])}"
        )
    if unreadable:
        warn_unreadable(unreadable, len(files))
    lengths = np.array([len(samples) for _, samples in used])
    values = np.zeros((len(used), lengths.max()), dtype=np.float32)
    for row, (_, samples) in zip(values, used, strict=True):
        row[: len(samples)] = samples / np.float32(32768)
    flat = all(file.parent == folder for file, _ in used)
    return values, None if flat else [file.parent.name for file, _ in used], lengths, float(rate)


def warn_unreadable(unreadable: Sequence[str], total: int) -> None:
    """Name the first files that could not be used, and count them."""
    shown = "; ".join(unreadable[:5]) + ("; ..." if len(unreadable) > 5 else "")
    log.warning("%d of %d audio files are left out: %s", len(unreadable), total, shown)
