"""What s4's data modules use of torchtext: a vocabulary from counts, and a csv reader."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO


class Vocab:
    """Tokens <-> indices; an unknown token gives the default index, or an error where none is set."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.itos = list(tokens)
        self.stoi = {token: index for index, token in enumerate(self.itos)}
        self.default: int | None = None

    def __len__(self) -> int:
        return len(self.itos)

    def __contains__(self, token: str) -> bool:
        return token in self.stoi

    def __getitem__(self, token: str) -> int:
        index = self.stoi.get(token, self.default)
        if index is None:
            raise RuntimeError(
                f"Token {token!r} is none of the {len(self)} known, and no default index is set."
            )
        return index

    def __call__(self, tokens: Iterable[str]) -> list[int]:
        return [self[token] for token in tokens]

    lookup_indices = __call__

    def set_default_index(self, index: int | None) -> None:
        self.default = index

    def get_default_index(self) -> int | None:
        return self.default

    def get_itos(self) -> list[str]:
        return list(self.itos)

    def get_stoi(self) -> dict[str, int]:
        return dict(self.stoi)

    def lookup_tokens(self, indices: Iterable[int]) -> list[str]:
        return [self.itos[index] for index in indices]


def build_vocab_from_iterator(
    iterator: Iterable[Iterable[str]],
    min_freq: int = 1,
    specials: Sequence[str] | None = None,
    special_first: bool = True,
    max_tokens: int | None = None,
) -> Vocab:
    """Tokens seen at least ``min_freq`` times, most frequent first and then by name; specials beside them."""
    counts = Counter(token for tokens in iterator for token in tokens)
    special = list(specials or ())
    for token in special:
        counts.pop(token, None)
    ordered = sorted(counts, key=lambda token: (-counts[token], token))
    kept = [token for token in ordered if counts[token] >= min_freq]
    if max_tokens is not None:
        kept = kept[: max(0, max_tokens - len(special))]
    return Vocab([*special, *kept] if special_first else [*kept, *special])


def unicode_csv_reader(lines: TextIO, **options: Any) -> Iterator[list[str]]:
    """Rows of a csv file with fields of any length."""
    csv.field_size_limit(2**31 - 1)
    yield from csv.reader(lines, **options)


class vocab:
    Vocab = Vocab
    build_vocab_from_iterator = staticmethod(build_vocab_from_iterator)


class utils:
    unicode_csv_reader = staticmethod(unicode_csv_reader)


class data:
    class utils:
        @staticmethod
        def get_tokenizer(name: str, language: str = "en") -> Any:
            """Word tokenizers are torchtext's own: s4 needs one for level=word only."""
            raise ImportError(
                f"The stand-in for torchtext has no tokenizer {name!r} ({language}); "
                "use dataset.level=char, or install torchtext."
            )
