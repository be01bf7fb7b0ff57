"""Speech Commands from its folders of wav files and its two official lists (Warden 2018, CC BY 4.0)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tdi_plugin.data.archive import data_root
from tdi_plugin.data.lazy import ScaledDataset, mean_and_deviation
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.data.wave_table import WaveTable, wave_table
from tdi_plugin.errors import DataError, OptionError, choices

log = logging.getLogger("tdi_plugin")
SC10 = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
_FOLDERS = ("SpeechCommands/speech_commands_v0.02", "speech_commands_v0.02", "SpeechCommands", "")
_LISTS = {"val": "validation_list.txt", "test": "testing_list.txt"}
_RATE = 16000
NORMALISATIONS = ("train", "series", None)


class SpeechCommands(SeriesTask):
    """Items are (x (L, 1) float32, y int64): one second at 16 kHz, shorter files filled with zeros at the
    end.

    Args:
        data_dir: folder that holds SpeechCommands/speech_commands_v0.02; default $DATA_PATH.
        words: "sc35" (every word that has a folder), "sc10" (the ten command words), or a list of words.
        stride: keep every stride-th sample.
        normalize: "train" (mean 0, variance 1 over the training set, as s4 does), "series" (each series on
            its own), or None (-1..1).
        cache_dir: where the samples are kept as one memory-mapped file; default the user's cache folder.

    The validation and the test set are those of validation_list.txt and testing_list.txt, the rest trains.
    A file that cannot be read is named in the log, counted in ``provenance()`` and left out.

    Raises:
        DataError: from ``setup``: no folder, no lists, no files for a word.
        OptionError: unknown words or normalisation.
    """

    _name_ = "tdi_sc"

    def __init__(
        self,
        data_dir: str | Path | None = None,
        words: str | Sequence[str] = "sc35",
        stride: int = 1,
        normalize: str | None = "train",
        cache_dir: str | Path | None = None,
    ) -> None:
        super().__init__()
        if isinstance(words, str) and words not in ("sc35", "sc10"):
            raise OptionError(
                f"Unknown words={words!r}: {choices(words, ('sc35', 'sc10'))} Or give a list of words."
            )
        if not isinstance(stride, int) or stride < 1:
            raise OptionError(f"stride={stride!r} is no positive whole number; 2 keeps every second sample.")
        if normalize not in NORMALISATIONS:
            raise OptionError(f"Unknown normalize={normalize!r}: {choices(str(normalize), NORMALISATIONS)}")
        self.data_dir, self.words, self.stride, self.normalize = data_dir, words, stride, normalize
        self.cache_dir = None if cache_dir is None else Path(cache_dir)

    def _load(self) -> None:
        self._folder = find_speech(self.data_dir)
        self.classes = self._classes()
        files = [f for word in self.classes for f in sorted((self._folder / word).glob("*.wav"))]
        self._table = wave_table(files, self._folder, _RATE, _RATE, self.cache_dir)
        parts = self._parts(files, self._table)
        labels = np.array([self.classes.index(file.parent.name) for file in files], dtype=np.int64)
        samples = np.load(self._table.path, mmap_mode="r")
        shift, deviation = 0.0, 32768.0
        if self.normalize == "train":
            shift, deviation = mean_and_deviation(samples, parts["train"])
        self.dataset_train, self.dataset_val, self.dataset_test = (
            ScaledDataset(
                self._table.path,
                rows,
                labels[rows],
                pick=slice(None, None, self.stride),
                shift=shift,
                scale=1.0 / deviation,
                per_series=self.normalize == "series",
            )
            for rows in (parts["train"], parts["val"], parts["test"])
        )
        self.d_input, self.d_output = 1, len(self.classes)
        self.l_max, self.sample_rate = -(-_RATE // self.stride), _RATE / self.stride

    def _classes(self) -> tuple[str, ...]:
        found = {path.name for path in self._folder.iterdir() if path.is_dir() and path.name[0] not in "._"}
        if self.words == "sc35":
            if len(found) != 35:
                log.warning(
                    "%s has folders for %d of 35 words: this is not the SC35 benchmark.",
                    self._folder,
                    len(found),
                )
            return tuple(sorted(found))
        wanted = SC10 if self.words == "sc10" else tuple(self.words)
        if missing := [word for word in wanted if word not in found]:
            raise DataError(f"{self._folder} has no folder for {missing[0]!r}: {choices(missing[0], found)}")
        return tuple(sorted(wanted))

    def _parts(self, files: list[Path], table: WaveTable) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
        names = [f"{file.parent.name}/{file.name}" for file in files]
        listed = {part: set((self._folder / name).read_text().split()) for part, name in _LISTS.items()}
        member = {
            part: np.array([name in wanted for name in names], dtype=bool) for part, wanted in listed.items()
        }
        member["train"] = ~(member["val"] | member["test"])
        parts = {part: np.flatnonzero(inside & table.readable) for part, inside in member.items()}
        for part, rows in parts.items():
            if len(rows) == 0:
                raise DataError(
                    f"{self._folder}: no readable file for the {part} set; check {sorted(_LISTS.values())}."
                )
        return parts

    def _source(self) -> dict[str, Any]:
        return {
            "folder": str(self._folder),
            "sha256": self._table.sha256,
            "words": list(self.classes),
            "stride": self.stride,
            "normalize": self.normalize,
            "unreadable": list(self._table.unreadable),
        }


def find_speech(data_dir: str | Path | None) -> Path:
    """The folder with the two lists and a folder for each word.

    Raises:
        DataError: not found.
    """
    root = data_root(data_dir)
    candidates = [] if root is None else [root / folder for folder in _FOLDERS]
    for folder in candidates:
        if all((folder / name).is_file() for name in _LISTS.values()):
            return folder
    looked = candidates[0] if candidates else "$DATA_PATH (not set)"
    raise DataError(
        f"Speech Commands was not found: no {' and '.join(_LISTS.values())} in {looked}. Unpack "
        "speech_commands_v0.02.tar.gz (storage.googleapis.com/download.tensorflow.org/data) there, or set "
        "DATA_PATH or data_dir."
    )
