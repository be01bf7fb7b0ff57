"""Partial results as named float64 sums: adding them is the whole of merging."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import pad

from tdi_plugin.errors import DataError

Sums = dict[str, Tensor]

GROWING = frozenset({"count", "total", "square", "moment", "target"})
"""Sums whose first axis is the class: it grows when a batch brings a class that none before it had."""


def add(left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> Sums:
    """The sums of both parts together; an empty part (all axes of size zero) is the zero element.

    Raises:
        DataError: parts of another length, another number of channels or targets, or one part measured as
            series of equal length and the other as unequal ones.
    """
    check_alike(left, right)
    out: Sums = {}
    for name, a in left.items():
        b = right[name].to(a.device)
        if name == "length":
            out[name] = torch.maximum(a, b)
            continue
        if a.shape != b.shape:
            shape = tuple(max(sizes) for sizes in zip(a.shape, b.shape, strict=True))
            a, b = grow(a, shape), grow(b, shape)
        out[name] = a + b
    return out


def grow(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Zeros appended until ``values`` has ``shape``."""
    missing = [size for have, want in zip(values.shape, shape, strict=True) for size in (want - have, 0)]
    return pad(values, missing[::-1])


def check_alike(left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> None:
    """Refuse to add what was not measured on the same grid."""
    a, b = int(left["length"]), int(right["length"])
    if a and b and a != b:
        raise DataError(
            f"Series of {b} samples after series of {a}: one spectrum needs one length. Pad them to "
            "the longest and pass lengths=."
        )
    for name in left:
        one, two = left[name].shape, right[name].shape
        fixed = slice(1, None) if name in GROWING else slice(None)
        if left[name].numel() and right[name].numel() and one[fixed] != two[fixed]:
            raise DataError(
                f"Sums {name!r} of shape {tuple(two)} after {tuple(one)}: the number of channels or targets "
                "changed between batches. Give every batch the same."
            )
    if bool(left["equal"] + right["equal"]) and bool(left["unequal"] + right["unequal"]):
        raise MixedLengths(
            "Some batches came as series of equal length and others as unequal ones (lengths= or NaN at "
            "the end): the two are measured differently. Pass lengths= with every batch, full series too."
        )


class MixedLengths(DataError):
    """Equal and unequal batches in one measurement."""
