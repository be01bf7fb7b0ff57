"""Any file of series that people bring, as one ``Series``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tdi_plugin.data.aeon_files import read_aeon
from tdi_plugin.data.idx import is_idx, read_idx
from tdi_plugin.data.missing import valid_part
from tdi_plugin.data.series import Series
from tdi_plugin.data.targets import open_numpy, read_labels, resolve
from tdi_plugin.data.text import read_text
from tdi_plugin.data.wav import read_wave_folder
from tdi_plugin.errors import DataError

Labels = str | Path | Sequence[Any] | NDArray[Any] | Tensor | None


@dataclass(frozen=True)
class _Raw:
    x: NDArray[Any]
    labels: Any = None
    lengths: NDArray[np.int64] | None = None
    sample_rate: float | None = None


def load_series(
    path: str | Path,
    labels: Labels = None,
    sample_rate: float | None = None,
    missing: str = "error",
    target: str = "auto",
) -> Series:
    """Read series and labels from one file or folder.

    Args:
        path: by its ending: .tsv, .txt, .csv (a label, then the series, in each line), .ts, .arff (through
            aeon), .npz (arrays x, and optionally y, lengths, sample_rate), .npy (x alone), an idx file
            (MNIST), or a folder of wav files (in one folder for each class). x is (n, L) or (n, L, D); NaN
            at the end of a series is padding.
        labels: None takes the file's own; "none" ignores them; else an array, or a file (.npy, idx, or
            text with one label a line). With labels given, every column of a text file belongs to the series.
        sample_rate: in Hz; default what the file says (wav, npz), else unknown.
        missing: NaN before the end of a series: "error" or "interpolate".
        target: "classes", "real" or "auto" (text and whole numbers are classes).

    Raises:
        DataError: no such file, an unknown kind, or contents that cannot be used; says which and what to do.
        OptionError: an unknown rule.
        MissingDependency: .ts and .arff need aeon, wav needs soundfile.
    """
    path = Path(path).expanduser()
    raw = _reader(path)(path, labels is None)
    values, lengths = valid_part(_on_grid(raw.x, path, raw.lengths), str(path), missing)
    given = (
        raw.labels
        if labels is None
        else None
        if isinstance(labels, str) and labels == "none"
        else read_labels(labels)
    )
    y, classes = (None, ()) if given is None else resolve(given, target)
    if y is not None and len(y) != len(values):
        raise DataError(
            f"{len(y)} labels came for the {len(values)} series of {path}; expected one a series."
        )
    return Series(
        torch.from_numpy(values),
        y,
        None if lengths is None else torch.from_numpy(lengths),
        classes,
        raw.sample_rate if sample_rate is None else float(sample_rate),
    )


def _text(path: Path, labelled: bool) -> _Raw:
    values, labels = read_text(path, labelled)
    return _Raw(values, labels)


def _aeon(path: Path, labelled: bool) -> _Raw:
    return _Raw(*read_aeon(path))


def _npy(path: Path, labelled: bool) -> _Raw:
    return _Raw(open_numpy(path))


def _npz(path: Path, labelled: bool) -> _Raw:
    with open_numpy(path) as arrays:
        if "x" not in arrays:
            raise DataError(
                f"{path} holds the arrays {sorted(arrays)}, expected one named x (and y, lengths)."
            )
        found = {name: arrays[name] for name in ("x", "y", "lengths", "sample_rate") if name in arrays}
    rate = float(found["sample_rate"]) if "sample_rate" in found else None
    return _Raw(found["x"], found.get("y"), found.get("lengths"), rate)


def _idx(path: Path, labelled: bool) -> _Raw:
    images = read_idx(path)
    labels = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    found = read_idx(labels) if labelled and labels != path and labels.is_file() else None
    return _Raw(images.reshape(len(images), -1), found)


def _waves(path: Path, labelled: bool) -> _Raw:
    return _Raw(*read_wave_folder(path))


_READERS: dict[str, Callable[[Path, bool], _Raw]] = {
    ".tsv": _text,
    ".txt": _text,
    ".csv": _text,
    ".ts": _aeon,
    ".arff": _aeon,
    ".npz": _npz,
    ".npy": _npy,
}


def _reader(path: Path) -> Callable[[Path, bool], _Raw]:
    if path.is_dir():
        return _waves
    if not path.is_file():
        raise DataError(f"{path} does not exist; give a file with series, or a folder of wav files.")
    if is_idx(path):
        return _idx
    if path.suffix.lower() not in _READERS:
        raise DataError(
            f"{path} ends in {path.suffix!r}, not one of {', '.join(_READERS)}, an idx file, or a folder "
            "of wav files. Save the series as .npz with arrays x (n, L) and y (n,)."
        )
    return _READERS[path.suffix.lower()]


def _on_grid(x: NDArray[Any], path: Path, lengths: NDArray[np.int64] | None) -> NDArray[np.float32]:
    if x.dtype.kind not in "iufb" or x.ndim not in (2, 3) or 0 in x.shape:
        raise DataError(
            f"{path} holds series of shape {x.shape}, type {x.dtype}; expected numbers (n, L) or (n, L, D)."
        )
    values = x.astype(np.float32, copy=False)
    values = values[..., None] if values.ndim == 2 else values
    if lengths is None:
        return values
    if np.shape(lengths) != (len(x),) or np.min(lengths) < 1 or np.max(lengths) > x.shape[1]:
        raise DataError(
            f"{path}: lengths {np.shape(lengths)} do not fit series {x.shape}; expected (n,) within 1..L."
        )
    return np.where(
        np.arange(x.shape[1])[:, None] < np.asarray(lengths)[:, None, None], values, np.float32(np.nan)
    )
