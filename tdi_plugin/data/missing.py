"""Not-a-number: padding at the end of a series is its length; anywhere else it is a missing value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.errors import DataError, OptionError, choices

RULES = ("error", "interpolate")
_CHUNK = 512


def valid_part(
    x: NDArray[np.float32], source: str, missing: str = "error"
) -> tuple[NDArray[np.float32], NDArray[np.int64] | None]:
    """Take padding off and deal with missing values.

    Args:
        x: (n, L, D), NaN where a value is missing or the series has ended.
        source: a name for messages, usually the file.
        missing: what to do about NaN before the end: "error", or "interpolate" linearly between neighbours
            (the first and last valid value continue outwards).

    Returns:
        x with zeros in place of padding, and (n,) lengths or None where all series are full.

    Raises:
        DataError: infinite values, a series without any value, NaN before the end under "error".
        OptionError: an unknown rule.
    """
    if missing not in RULES:
        raise OptionError(f"Unknown rule missing={missing!r}: {choices(str(missing), RULES)}")
    pieces = range(0, len(x), _CHUNK)
    if all(np.isfinite(x[start : start + _CHUNK]).all() for start in pieces):
        return x, None
    if np.isinf(x).any():
        row = int(np.argwhere(np.isinf(x))[0][0])
        raise DataError(
            f"{source}: series {row} holds an infinite value; expected finite numbers. Repair it."
        )
    nan: NDArray[np.bool_] = np.isnan(x)
    present: NDArray[np.bool_] = np.logical_not(nan.all(axis=2))
    empty = np.flatnonzero(~present.any(axis=1))
    if len(empty):
        raise DataError(f"{source}: series {empty[0]} has no value at all (every sample is NaN); remove it.")
    lengths = x.shape[1] - present[:, ::-1].argmax(axis=1)
    inside = np.arange(x.shape[1]) < lengths[:, None]
    gaps: NDArray[np.bool_] = nan & inside[..., None]
    if gaps.any() and missing == "error":
        row, bad = int(np.argwhere(gaps)[0][0]), int(gaps.any(axis=(1, 2)).sum())
        raise DataError(
            f"{source}: {bad} of {len(x)} series have missing values (NaN) before their end, "
            f"the first is series {row}. Give missing=interpolate, or repair the file."
        )
    x = np.where(inside[..., None], x, np.float32(0.0))
    for row, channel in np.argwhere(gaps.any(axis=1)):
        _interpolate(x[row, : lengths[row], channel], source, int(row))
    return x, None if (lengths == x.shape[1]).all() else lengths.astype(np.int64)


def _interpolate(values: NDArray[np.float32], source: str, row: int) -> None:
    gaps: NDArray[np.bool_] = np.isnan(values)
    if gaps.all():
        raise DataError(f"{source}: a channel of series {row} has no value at all; remove the series.")
    steps = np.arange(len(values))
    values[gaps] = np.interp(steps[gaps], steps[~gaps], values[~gaps])
