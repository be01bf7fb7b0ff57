"""What a column of labels means: classes, or real-valued targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from tdi_plugin.data.idx import is_idx, read_idx
from tdi_plugin.data.labels import class_names, encode, tidy
from tdi_plugin.errors import DataError, OptionError, choices

TARGETS = ("auto", "classes", "real")


def resolve(labels: ArrayLike, target: str = "auto") -> tuple[Tensor, tuple[str, ...]]:
    """Class numbers (n,) int64 with the names of the classes, or real targets (n, d) float32 and no names.

    Args:
        labels: (n,) text, integers or floats, or (n, d) floats.
        target: "classes", "real", or "auto": text and whole numbers are classes, (n, d) values with d > 1 and
            numbers of which one has a fraction are real targets.

    Raises:
        DataError: NaN or infinite labels, text where real targets were asked for.
        OptionError: an unknown ``target``.
    """
    if target not in TARGETS:
        raise OptionError(f"Unknown target={target!r}: {choices(str(target), TARGETS)}")
    values = np.asarray(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    names = [tidy(str(label)) for label in values.tolist()] if values.ndim == 1 else []
    numbers = _numbers(values, names)
    if numbers is not None and not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise DataError(
            f"Label {row} is {numbers[row]}, expected a class or a finite number; repair or leave it out."
        )
    if target == "auto":
        whole = numbers is None or (numbers.ndim == 1 and bool((numbers == np.rint(numbers)).all()))
        target = "classes" if whole else "real"
    if target == "real":
        if numbers is None:
            raise DataError(
                f"Real targets were asked for (target=real), but the labels are text such as {names[0]!r}."
            )
        return torch.from_numpy(numbers.reshape(len(numbers), -1).astype(np.float32)), ()
    if not names:
        raise DataError(
            f"Labels of shape {values.shape} came where classes (n,) were expected; give one a series."
        )
    classes = class_names(names)
    return torch.from_numpy(encode(names, classes)), classes


def read_labels(source: str | Path | Sequence[Any] | NDArray[Any] | Tensor) -> ArrayLike:
    """Labels as they are, or from a file: .npy, idx, or text with one label a line.

    Raises:
        DataError: no such file, or an empty one.
    """
    if isinstance(source, Tensor):
        return source.numpy()
    if not isinstance(source, (str, Path)):
        return np.asarray(source)
    path = Path(source).expanduser()
    if not path.is_file():
        raise DataError(f"The label file {path} does not exist; give a .npy, idx or text file, or 'none'.")
    if path.suffix == ".npy":
        return open_numpy(path)
    if is_idx(path):
        return read_idx(path)
    labels = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not labels:
        raise DataError(f"The label file {path} is empty; expected one label a line.")
    return labels


def open_numpy(path: Path) -> Any:
    """The array of a .npy file, memory-mapped (writing changes the copy in memory alone), or an open .npz.

    Raises:
        DataError: neither, or one that holds pickled objects.
    """
    try:
        return np.load(path, mmap_mode="c" if path.suffix == ".npy" else None, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{path} is no plain NumPy file ({error}); save numbers with np.savez or np.save."
        ) from error


def _numbers(values: NDArray[Any], names: list[str]) -> NDArray[np.float64] | None:
    if values.dtype.kind in "iufb":
        return values.astype(np.float64)
    try:
        return np.array(names, dtype=np.float64) if names else None
    except ValueError:
        return None
