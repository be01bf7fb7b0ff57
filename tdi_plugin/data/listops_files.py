"""ListOps in the Long Range Arena's files: basic_{train,val,test}.tsv with the columns Source and Target."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.listops_grammar import OPERATORS, expressions, source, value
from tdi_plugin.errors import DataError, OptionError

Pair = tuple[str, int]
SPLITS = ("train", "val", "test")
_DIGITS = tuple(map(str, range(10)))
VOCABULARY = ("<pad>", "<unk>", "<eos>", *_DIGITS, *(f"[{name}" for name in OPERATORS), "]")
_NUMBER = {token: index for index, token in enumerate(VOCABULARY)}
_EOS = _NUMBER["<eos>"]
_HEADER = "Source\tTarget"
_SHOW_PROGRESS_FROM = 2000


def generate(
    sizes: tuple[int, int, int], seed: int, min_length: int, max_length: int, max_depth: int, max_args: int
) -> Iterator[tuple[str, Iterator[Pair]]]:
    """The splits one after the other, each with its (source, answer) pairs, to be used up in that order.

    No expression stands twice, within or across the splits.

    Raises:
        OptionError: lengths, depths or sizes that the grammar cannot give.
    """
    if not 3 <= min_length <= max_length or max_depth < 2 or max_args < 2 or min(sizes) < 1:
        raise OptionError(
            f"sizes={sizes}, min_length={min_length}, max_length={max_length}, max_depth={max_depth}, "
            f"max_args={max_args}: expected 3 <= min_length <= max_length, depth, args >= 2, sizes >= 1."
        )
    from rich.progress import track

    endless = expressions(seed, min_length, max_length, max_depth, max_args)
    total = sum(sizes)
    drawn = track(
        itertools.islice(endless, total),
        "Drawing ListOps",
        total=total,
        transient=True,
        disable=total < _SHOW_PROGRESS_FROM,
    )
    pairs = ((source(expression), value(expression)) for expression in drawn)
    return ((split, itertools.islice(pairs, n)) for split, n in zip(SPLITS, sizes, strict=True))


def write_listops(folder: Path, splits: Iterable[tuple[str, Iterable[Pair]]]) -> None:
    """Write basic_{split}.tsv for each split, with one pass over the pairs."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in splits:
        with (folder / f"basic_{split}.tsv").open("w", encoding="utf-8") as file:
            file.write(f"{_HEADER}\n")
            file.writelines(f"{text}\t{answer}\n" for text, answer in pairs)


def read_listops(path: Path) -> Iterator[Pair]:
    """(source, answer) pairs of one file.

    Raises:
        DataError: another header, or a line that is no pair (its number is named).
    """
    with path.open(encoding="utf-8") as lines:
        header = next(lines, "")
        if header.strip() != _HEADER:
            raise DataError(f"{path} begins with {header[:40]!r}, expected the columns Source and Target.")
        for number, line in enumerate(lines, start=2):
            text, _, answer = line.rstrip().rpartition("\t")
            if not text or answer not in _DIGITS:
                raise DataError(
                    f"{path}, line {number}: expected expression, tab, digit; got ...{line[-20:]!r}."
                )
            yield text, int(answer)


def tokenize(text: str, l_max: int) -> NDArray[np.uint8]:
    """Token numbers of a source: no parentheses (they say nothing new), cut to l_max - 1, then <eos>."""
    words = text.replace("(", " ").replace(")", " ").split()[: l_max - 1]
    unknown = _NUMBER["<unk>"]
    return np.array([*(_NUMBER.get(word, unknown) for word in words), _EOS], dtype=np.uint8)
