"""Wave files of one rate as one memory-mapped array, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.wav import read_wav, warn_unreadable
from tdi_plugin.errors import DataError

_SHOW_PROGRESS_FROM = 2000
_LAYOUT = 1


@dataclass(frozen=True)
class WaveTable:
    """Files of one rate as rows of 16-bit samples, cut or filled with zeros to one length.

    Attributes:
        path: the .npy file (n, length) int16.
        readable: (n,) False for files that could not be used; their rows are zero.
        unreadable: why, one message a file.
        sha256: of the samples.
    """

    path: Path
    readable: NDArray[np.bool_]
    unreadable: tuple[str, ...]
    sha256: str


def wave_table(
    files: Sequence[Path], root: Path, length: int, rate: int, cache_dir: Path | None = None
) -> WaveTable:
    """Read the files once, keep the result in the user's cache folder, and reuse it while the files are
    unchanged.

    Args:
        files: below ``root``, in the order of the rows.
        root: their common folder; names, sizes and modification times below it identify the table.
        length: samples a row.
        rate: expected sampling rate in Hz; a file of another rate counts as unreadable.
        cache_dir: instead of the user's cache folder.

    Raises:
        DataError: no file could be used.
    """
    folder = cache_dir or _user_cache()
    stem = folder / f"waves-{_identity(files, root, length, rate)[:32]}"
    table, notes = stem.with_suffix(".npy"), stem.with_suffix(".json")
    if not (notes.is_file() and table.is_file()):
        folder.mkdir(parents=True, exist_ok=True)
        _fill(files, table, notes, length, rate)
    known = json.loads(notes.read_text())
    unreadable = {int(row): reason for row, reason in known["unreadable"].items()}
    if len(unreadable) == len(files):
        first = unreadable[0] if unreadable else f"{root} lists none"
        raise DataError(f"None of {len(files)} audio files under {root} can be used; the first: {first}")
    if unreadable:
        warn_unreadable(list(unreadable.values()), len(files))
    readable = np.ones(len(files), dtype=bool)
    readable[list(unreadable)] = False
    return WaveTable(table, readable, tuple(unreadable.values()), known["sha256"])


def _fill(files: Sequence[Path], table: Path, notes: Path, length: int, rate: int) -> None:
    from rich.progress import track

    # Processes of one run may fill the same table: each writes its own file and the last rename wins.
    partial = table.with_suffix(f".{os.getpid()}.part")
    rows = np.lib.format.open_memmap(partial, mode="w+", dtype=np.int16, shape=(max(len(files), 1), length))
    unreadable, digest = {}, hashlib.sha256()
    numbered = enumerate(files)
    for row, file in track(
        numbered, "Reading audio", total=len(files), transient=True, disable=len(files) < _SHOW_PROGRESS_FROM
    ):
        try:
            samples, found = read_wav(file)
            if found != rate:
                raise DataError(f"{file} has {found} samples a second, expected {rate}.")
            rows[row, : min(len(samples), length)] = samples[:length]
        except DataError as error:
            unreadable[row] = str(error)
        digest.update(rows[row].tobytes())
    rows.flush()
    del rows
    partial.replace(table)
    written = notes.with_suffix(f".{os.getpid()}.part")
    written.write_text(json.dumps({"unreadable": unreadable, "sha256": digest.hexdigest()}))
    written.replace(notes)


def _identity(files: Sequence[Path], root: Path, length: int, rate: int) -> str:
    digest = hashlib.sha256(f"{_LAYOUT} {root.resolve()} {length} {rate}\n".encode())
    for file in files:
        state = file.stat()
        digest.update(f"{file.relative_to(root)} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("tdi-plugin") / "data"
