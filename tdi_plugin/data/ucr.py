"""UCR archive sets by name, from a folder or from those that aeon ships (cite Dau et al., 2019)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tdi_plugin.data.aeon_files import read_aeon
from tdi_plugin.data.archive import find
from tdi_plugin.data.labels import class_names, encode
from tdi_plugin.data.missing import valid_part
from tdi_plugin.data.series import Series, SeriesDataset, digest_of
from tdi_plugin.data.subset import split_off
from tdi_plugin.data.task import SPLIT, TEST, SeriesTask
from tdi_plugin.data.text import read_text
from tdi_plugin.errors import DataError, OptionError, choices

log = logging.getLogger("tdi_plugin")
NORMALISATIONS = (None, "series")


class UCR(SeriesTask):
    """One set of the UCR archive; items are (x (L, D) float32, y int64), plus a length for unequal lengths.

    Args:
        name: as in the archive, for example ECG5000.
        data_dir: folder that holds UCRArchive_2018; default $DATA_PATH. A set not found there is taken from
            the aeon package if that ships it. Nothing is ever downloaded.
        val_split: part of the training set to validate on, stratified. The archive has no validation set:
            with 0 validation is on the test set, ``validation`` says so and so does the log.
        seed: of the validation split.
        stride: keep every stride-th sample.
        missing: NaN before the end of a series: "error" or "interpolate". NaN at the end is padding.
        normalize: None (most sets are z-normalised as published), or "series": each series on its own.

    Raises:
        DataError: from ``setup``: no such set (says where it looked and the nearest name), bad values.
        OptionError: an option out of range.
    """

    _name_ = "tdi_ucr"

    def __init__(
        self,
        name: str,
        data_dir: str | Path | None = None,
        val_split: float = 0.0,
        seed: int = 0,
        stride: int = 1,
        missing: str = "error",
        normalize: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(stride, int) or stride < 1:
            raise OptionError(f"stride={stride!r} is no positive whole number; 2 keeps every second sample.")
        if normalize not in NORMALISATIONS:
            raise OptionError(f"Unknown normalize={normalize!r}: {choices(str(normalize), NORMALISATIONS)}")
        self.name, self.data_dir, self.val_split, self.seed = name, data_dir, val_split, seed
        self.stride, self.missing, self.normalize = stride, missing, normalize

    def _load(self) -> None:
        self._files = find(self.name, self.data_dir)
        (x_train, names_train), (x_test, names_test) = map(self._read, self._files)
        self.classes = class_names(names_train)
        if unseen := set(names_test) - set(self.classes):
            raise DataError(f"{self._files[1]} has labels {sorted(unseen)} that {self._files[0]} does not.")
        if len(self.classes) < 2:
            raise DataError(f"{self._files[0]} has one class only ({self.classes[0]}); expected two or more.")
        length = max(x_train.shape[1], x_test.shape[1])
        train = self._series(x_train, names_train, length, self._files[0])
        test = self._series(x_test, names_test, length, self._files[1])
        if (train.lengths is None) != (test.lengths is None):
            train, test = train.with_lengths(), test.with_lengths()
        self._digest = digest_of(train, test)
        self._split(train, test)

    def _split(self, train: Series, test: Series) -> None:
        self.dataset_train, self.dataset_test = SeriesDataset(train), SeriesDataset(test)
        if self.val_split == 0:
            self.dataset_val, self.validation = self.dataset_test, TEST
            log.info("%s has no validation set: validation is on the test set (val_split=0).", self.name)
        else:
            kept, off = split_off(self.dataset_train.labels, self.val_split, self.seed)
            self.dataset_train, self.dataset_val = SeriesDataset(train.at(kept)), SeriesDataset(train.at(off))
            self.validation = SPLIT
        self.l_max, self.d_input, self.d_output = train.x.shape[1], train.x.shape[2], len(self.classes)
        self.has_lengths = train.lengths is not None

    def _read(self, path: Path) -> tuple[NDArray[np.float32], list[str]]:
        values, labels = read_aeon(path) if path.suffix == ".ts" else read_text(path)
        if not isinstance(labels, list):
            raise DataError(f"{path} has no class labels; expected a classification set.")
        return values, labels

    def _series(self, x: NDArray[np.float32], names: list[str], length: int, path: Path) -> Series:
        padded = np.pad(x, ((0, 0), (0, length - x.shape[1]), (0, 0)), constant_values=np.nan)
        values, lengths = valid_part(padded, str(path), self.missing)
        y = torch.from_numpy(encode(names, self.classes))
        valid = None if lengths is None else torch.from_numpy(lengths)
        series = Series(torch.from_numpy(values), y, valid, self.classes).every(self.stride)
        return series.standardised() if self.normalize == "series" else series

    def _source(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "files": [str(file) for file in self._files],
            "sha256": self._digest,
            "val_split": self.val_split,
            "split_seed": self.seed,
            "stride": self.stride,
            "missing": self.missing,
            "normalize": self.normalize,
        }
