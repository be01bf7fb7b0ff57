"""Labels and targets in the form that sums take: class numbers (B,), or real columns (B, d)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.spectrum.batch import to_tensor


def check_rows(y: Tensor, rows: int) -> None:
    if y.ndim == 0 or y.shape[0] != rows:
        raise DataError(f"x holds {rows} series and y has shape {tuple(y.shape)}; give one label a series.")


def to_classes(y: Any, rows: int, num_classes: int | None) -> Tensor:
    """(B,) int64 class numbers from integers (B,) or (B, 1).

    Raises:
        DataError: another shape or type, a negative number, or one not below ``num_classes``.
    """
    y = to_tensor(y, "y")
    check_rows(y, rows)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(f"y has shape {tuple(y.shape)}; class labels are ({rows},) integers.")
    if y.is_floating_point() or y.is_complex():
        raise DataError(
            f"y is {y.dtype}; class labels are integers: pass y.long(), or measure real targets with the "
            "cross-spectrum (statistic='cross')."
        )
    y = y.long()
    low, high = (int(v) for v in torch.aminmax(y))
    if low < 0 or (num_classes is not None and high >= num_classes):
        expected = "0 and above" if num_classes is None else f"0 to {num_classes - 1}"
        raise DataError(f"y runs from {low} to {high}; class labels are {expected}. Renumber them.")
    return y


def is_real_target(y: Tensor) -> bool:
    """True for real-valued targets, False for class numbers.

    Raises:
        DataError: 1-D floats that are all whole numbers, which could be either.
    """
    if not y.is_floating_point():
        return False
    if y.ndim == 1 and bool((y == y.round()).all()):
        raise DataError(
            f"y is {y.dtype} but holds only whole numbers from {float(y.min()):g} to {float(y.max()):g}: "
            "pass y.long() if they are classes, y[:, None] if they are real targets."
        )
    return True


def to_targets(y: Any, rows: int, num_targets: int | None) -> Tensor:
    """(B, d) float64 targets from (B,) or (B, d).

    Raises:
        DataError: another shape, another number of targets than before, or values that are not finite.
    """
    y = to_tensor(y, "y")
    check_rows(y, rows)
    y = (y[:, None] if y.ndim == 1 else y).double()
    if y.ndim != 2 or (num_targets is not None and y.shape[1] != num_targets):
        wanted = "d" if num_targets is None else num_targets
        raise DataError(f"y has shape {tuple(y.shape)}; real targets are ({rows},) or ({rows}, {wanted}).")
    if not bool(torch.isfinite(y).all()):
        raise DataError("y holds NaN or infinite targets; leave those series out.")
    return y


def check_classes(count: Tensor) -> None:
    """Refuse fewer than two classes, given the (C,) usable series of each."""
    present = (count > 0).nonzero()[:, 0].tolist()
    if not present:
        raise DataError("All series are constant: they have no spectrum. Check the data, or its scaling.")
    if len(present) == 1:
        raise DataError(
            f"Only class {present[0]} has series that vary; a label-informed spectrum needs two classes. "
            "Use statistic='power', which ignores labels."
        )


def has_repeats(y: Any) -> bool:
    """Whether some label of a batch occurs twice."""
    labels = to_tensor(y, "y")
    return labels.numel() > labels.unique().numel()


def check_num_classes(value: object) -> None:
    """Raise OptionError unless ``value`` can be a number of classes, or None for as many as come."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise OptionError(f"num_classes={value!r}: expected a whole number of 1 or more, or None.")
