"""ListOps as sequences of tokens, from the Long Range Arena's files or generated here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from tdi_plugin.data.archive import data_root
from tdi_plugin.data.listops_files import SPLITS, VOCABULARY, generate, read_listops, tokenize
from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import DataError, OptionError, choices

_FOLDERS = ("listops", "listops-1000", "")
SOURCES = ("files", "generate")


class ListOps(SeriesTask):
    """Items are (tokens (L,) int64, y int64, L), L different for each; ``collate`` pads with 0.

    Args:
        data_dir: folder that holds listops/basic_{train,val,test}.tsv; default $DATA_PATH.
        source: "files", or "generate": drawn from the published grammar with ``seed`` (not the published
            sample).
        l_max: longer expressions are cut.
        n_train, n_val, n_test: expressions to generate.
        min_length, max_length: of generated expressions, in tokens; 500 and 2000 are the Long Range Arena's.
        max_depth, max_args: of generated expressions.
        seed: of the generator.

    Raises:
        DataError: from ``setup``: files missing or not in the published form.
        OptionError: an option out of range.
    """

    _name_ = "tdi_listops"

    def __init__(
        self,
        data_dir: str | Path | None = None,
        source: str = "files",
        l_max: int = 2048,
        n_train: int = 96000,
        n_val: int = 2000,
        n_test: int = 2000,
        min_length: int = 500,
        max_length: int = 2000,
        max_depth: int = 10,
        max_args: int = 10,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if source not in SOURCES:
            raise OptionError(f"Unknown source={source!r}: {choices(str(source), SOURCES)}")
        self.data_dir, self.source, self.l_max, self.seed = data_dir, source, l_max, seed
        self.sizes = (n_train, n_val, n_test)
        self.grammar = {
            "min_length": min_length,
            "max_length": max_length,
            "max_depth": max_depth,
            "max_args": max_args,
        }
        self.n_tokens, self.has_lengths = len(VOCABULARY), True

    def _load(self) -> None:
        digest = hashlib.sha256()
        if self.source == "generate":
            splits = generate(self.sizes, self.seed, **self.grammar)
            self._origin: dict[str, Any] = {"generated": True, "seed": self.seed, **self.grammar}
        else:
            folder = find_listops(self.data_dir)
            splits = ((split, read_listops(folder / f"basic_{split}.tsv")) for split in SPLITS)
            self._origin = {"folder": str(folder)}
        parts = []
        for split, pairs in splits:
            parts.append(TokenDataset(pairs, self.l_max))
            if len(parts[-1]) == 0:
                raise DataError(f"The {split} set of ListOps has no expression; expected at least one.")
            digest.update(parts[-1].tokens.tobytes())
        self.dataset_train, self.dataset_val, self.dataset_test = parts
        self._origin["sha256"] = digest.hexdigest()
        self.d_output, self.classes = 10, tuple(map(str, range(10)))

    def _source(self) -> dict[str, Any]:
        return {**self._origin, "l_max": self.l_max}


class TokenDataset(Dataset[Any]):
    """Items (tokens (L,) int64, y, L) from (source, answer) pairs."""

    def __init__(self, pairs: Iterable[tuple[str, int]], l_max: int) -> None:
        pieces, answers = [np.zeros(0, np.uint8)], []
        for text, answer in pairs:
            pieces.append(tokenize(text, l_max))
            answers.append(answer)
        self.tokens = np.concatenate(pieces)
        self.ends = np.cumsum([len(piece) for piece in pieces[1:]])
        self.labels = torch.tensor(answers, dtype=torch.int64)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        index = range(len(self))[index]
        start = self.ends[index - 1] if index else 0
        tokens = torch.from_numpy(self.tokens[start : self.ends[index]].astype(np.int64))
        return tokens, self.labels[index], torch.tensor(len(tokens))


def find_listops(data_dir: str | Path | None) -> Path:
    """The folder with the three files.

    Raises:
        DataError: not found.
    """
    root = data_root(data_dir)
    candidates = [] if root is None else [root / folder for folder in _FOLDERS]
    for folder in candidates:
        if all((folder / f"basic_{split}.tsv").is_file() for split in SPLITS):
            return folder
    looked = candidates[0] if candidates else "$DATA_PATH (not set)/listops"
    raise DataError(
        f"ListOps was not found: no basic_train.tsv, basic_val.tsv and basic_test.tsv in {looked}. "
        "Unpack lra_release.gz (github.com/google-research/long-range-arena) there, set DATA_PATH or "
        "data_dir, or give source=generate."
    )
