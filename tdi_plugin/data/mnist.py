"""MNIST as sequences of 784 pixels, row by row or permuted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.archive import data_root
from tdi_plugin.data.idx import read_idx
from tdi_plugin.data.lazy import ScaledDataset
from tdi_plugin.data.subset import split_off
from tdi_plugin.data.task import SPLIT, TEST, SeriesTask
from tdi_plugin.errors import DataError

_FOLDERS = ("MNIST/raw", "mnist/MNIST/raw", "mnist", "raw", "")
_PARTS = {"train": "train", "test": "t10k"}


class SequentialMNIST(SeriesTask):
    """Items are (x (784, 1) float32 in 0..1, y int64).

    Args:
        data_dir: folder that holds MNIST/raw with the four idx files (gzipped or not); default $DATA_PATH.
        permute: shuffle the pixels, all images alike.
        permute_seed: of that shuffle.
        val_split: part of the training set to validate on, stratified; 0 validates on the test set.
        seed: of the validation split.

    Raises:
        DataError: from ``setup``: files missing, damaged, or not of one another.
    """

    _name_ = "tdi_mnist"

    def __init__(
        self,
        data_dir: str | Path | None = None,
        permute: bool = False,
        permute_seed: int = 42,
        val_split: float = 0.1,
        seed: int = 42,
    ) -> None:
        super().__init__()
        self.data_dir, self.permute, self.permute_seed = data_dir, permute, permute_seed
        self.val_split, self.seed = val_split, seed

    def _load(self) -> None:
        self._folder = find_mnist(self.data_dir)
        images, labels = _part(self._folder, "train")
        test_images, test_labels = _part(self._folder, "test")
        length = images.shape[1]
        order = np.random.default_rng(self.permute_seed).permutation(length) if self.permute else None
        self._digest = hashlib.sha256(images.tobytes() + labels.tobytes() + test_images.tobytes()).hexdigest()

        def dataset(values: NDArray[Any], y: NDArray[np.int64], rows: NDArray[np.int64]) -> ScaledDataset:
            return ScaledDataset(values, rows, y[rows], pick=order, scale=1 / 255)

        self.dataset_test = dataset(test_images, test_labels, np.arange(len(test_labels)))
        if self.val_split == 0:
            self.dataset_train = dataset(images, labels, np.arange(len(labels)))
            self.dataset_val, self.validation = self.dataset_test, TEST
        else:
            kept, off = split_off(labels, self.val_split, self.seed)
            self.dataset_train, self.dataset_val = dataset(images, labels, kept), dataset(images, labels, off)
            self.validation = SPLIT
        self.classes = tuple(str(c) for c in range(10))
        self.d_input, self.d_output, self.l_max = 1, 10, length

    def _source(self) -> dict[str, Any]:
        return {
            "folder": str(self._folder),
            "sha256": self._digest,
            "permute": self.permute_seed if self.permute else None,
            "val_split": self.val_split,
            "split_seed": self.seed,
        }


def find_mnist(data_dir: str | Path | None) -> Path:
    """The folder with the four idx files.

    Raises:
        DataError: not found.
    """
    root = data_root(data_dir)
    candidates = [] if root is None else [root / folder for folder in _FOLDERS]
    for folder in candidates:
        if any(folder.glob("train-images-idx3-ubyte*")):
            return folder
    looked = candidates[0] if candidates else "$DATA_PATH (not set)"
    raise DataError(
        f"MNIST was not found: no train-images-idx3-ubyte(.gz) in {looked}. Put the four idx files "
        "(yann.lecun.com/exdb/mnist and its mirrors) there, or set DATA_PATH or data_dir."
    )


def _part(folder: Path, part: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    images, labels = (
        read_idx(_file(folder, f"{_PARTS[part]}-{kind}"))
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels) or len(labels) == 0:
        raise DataError(
            f"{folder}: the {part} files hold images {images.shape} and labels {labels.shape}; expected "
            "(n, rows, columns) and (n,). Fetch them again."
        )
    if labels.min() < 0 or labels.max() > 9:
        raise DataError(
            f"{folder}: the {part} labels go from {labels.min()} to {labels.max()}, expected 0 to 9."
        )
    return images.reshape(len(images), -1), labels.astype(np.int64)


def _file(folder: Path, stem: str) -> Path:
    for path in (folder / stem, folder / f"{stem}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{folder} has no {stem} or {stem}.gz; put all four idx files there.")
