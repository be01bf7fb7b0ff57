"""Partial results as named float64 sums: adding them is the whole of merging."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import pad

from tdi_plugin.errors import DataError
from tdi_plugin.spectrum.batch import Batch

Sums = dict[str, Tensor]

GROWING = frozenset({"count", "total", "square", "moment", "target"})
"""Sums whose first axis is the class: it grows when a batch brings a class that none before it had."""

EQUAL, UNEQUAL, LEFT_OUT, LABELLED, SAMPLES = range(5)
"""What ``tally`` (5,) counts: series that came as equal and as unequal ones, series left out, series with
classes, and samples in all (padding included), from which the length follows."""


class NotFinite(Exception):
    """A batch whose sums come out NaN or infinite; why is for the caller to find."""


def tally(batch: Batch, left_out: float = 0, labelled: bool = False) -> Tensor:
    """(5,) float64: the entry that the sums of every statistic have."""
    rows, _, samples = batch.series.shape
    equal = batch.lengths is None
    counts = (rows * equal, rows * (not equal), left_out, rows * labelled, rows * samples)
    return torch.tensor(counts, dtype=torch.float64, device=batch.series.device)


def rows_of(sums: Mapping[str, Tensor]) -> int:
    """Series that came."""
    return round(float(sums["tally"][: UNEQUAL + 1].sum()))


def length_of(sums: Mapping[str, Tensor]) -> int:
    """Samples in a series, 0 where none came."""
    return round(float(sums["tally"][SAMPLES]) / max(rows_of(sums), 1))


def all_equal(sums: Mapping[str, Tensor]) -> bool:
    """No series came with a length of its own."""
    return not float(sums["tally"][UNEQUAL])


def add(into: Sums | None, new: Mapping[str, Tensor]) -> Sums:
    """Add ``new``, which may be in single precision, in place where shapes allow it.

    None, or a part whose axes all have size zero, is the zero element.

    Raises:
        DataError: parts of another length, number of channels or targets, or classes with real targets.
    """
    if into is None:
        return {name: part.double() for name, part in new.items()}
    check_alike(into, new)
    for name, part in new.items():
        here = into[name]
        part = part if part.device == here.device else part.to(here.device)
        if here.shape == part.shape:
            here += part
        else:
            shape = tuple(max(sizes) for sizes in zip(here.shape, part.shape, strict=True))
            into[name] = grow(here, shape) + grow(part, shape)
    return into


def grow(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Zeros appended until ``values`` has ``shape``."""
    missing = [size for have, want in zip(values.shape, shape, strict=True) for size in (want - have, 0)]
    return pad(values, missing[::-1])


def check_alike(left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> None:
    """Refuse to add what was not measured alike."""
    one, two = left["tally"].tolist(), right["tally"].tolist()
    rows, more = one[EQUAL] + one[UNEQUAL], two[EQUAL] + two[UNEQUAL]
    if not rows or not more:
        return
    if one[SAMPLES] * more != two[SAMPLES] * rows:
        raise DataError(
            f"Series of {two[SAMPLES] / more:g} samples after series of {one[SAMPLES] / rows:g}: one "
            "spectrum needs one length. Pad them to the longest and pass lengths=."
        )
    if bool(one[LABELLED]) != bool(two[LABELLED]):
        raise DataError(
            "Some batches came with integer labels and others with real targets: give every batch the same "
            "kind, y.long() for classes."
        )
    for name in left:
        if left[name].shape == right[name].shape:
            continue
        fixed = slice(1, None) if name in GROWING else slice(None)
        shapes = tuple(left[name].shape), tuple(right[name].shape)
        if shapes[0][fixed] != shapes[1][fixed]:
            raise DataError(
                f"The sums {name!r} have shape {shapes[1]} after {shapes[0]}: the number of channels or "
                "targets changed between batches. Give every batch the same."
            )
