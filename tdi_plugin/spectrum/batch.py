"""One batch in the form that every statistic takes: checked, channels first, unequal lengths resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tdi_plugin.errors import DataError

EXACT_IN_SINGLE = (torch.uint8, torch.int8, torch.int16, torch.bool, torch.float16, torch.bfloat16)


@dataclass
class Batch:
    """B series of L samples in D channels."""

    series: Tensor
    """(B, D, L) float32 or float64."""
    lengths: Tensor | None
    """(B,) valid samples of unequal series, then centred, zero beyond and scaled by 1/sqrt(length)."""

    def rows(self, rows: slice) -> Batch:
        """Some of the series."""
        if rows.start == 0 and rows.stop >= self.series.shape[0]:
            return self
        return Batch(self.series[rows], None if self.lengths is None else self.lengths[rows])

    def double(self) -> Batch:
        """The batch in float64."""
        return Batch(self.series.double(), self.lengths)

    @property
    def samples(self) -> int:
        """Divisor of |U|² that makes it power per sample: L, or 1 where the scaling has done it."""
        return self.series.shape[-1] if self.lengths is None else 1


def to_tensor(values: Any, name: str) -> Tensor:
    """A tensor of any array-like; read-only arrays (memory maps) are copied, others are shared."""
    if isinstance(values, Tensor):
        return values.detach()
    try:
        array = np.asarray(values)
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} is a {type(values).__name__} that is no numeric array ({error}); "
            "give a tensor or an array. Labels that are names become numbers by "
            "numpy.unique(y, return_inverse=True)[1]."
        ) from error


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is not (B, L) or (B, L, D) with a series of two samples at least."""
    if len(shape) not in (2, 3):
        raise DataError(
            f"x has shape {shape}; series come as (B, L) or (B, L, D). One series is x[None], images are "
            "x.reshape(B, -1)."
        )
    if shape[1] < 2 or 0 in shape:
        raise DataError(f"x has shape {shape}; at least one series of at least two samples is needed.")


def to_series(x: Any) -> Tensor:
    """(B, L) or (B, L, D) of any real type as (B, D, L) float32, or float64 where float32 would round it.

    Raises:
        DataError: another shape, no series, fewer than two samples, or complex values.
    """
    x = to_tensor(x, "x")
    check_shape(tuple(x.shape))
    if x.is_complex():
        raise DataError(
            f"x is {x.dtype}; give real series, for instance real and imaginary part as two channels."
        )
    if x.dtype in EXACT_IN_SINGLE:
        x = x.float()
    elif not x.is_floating_point():
        x = x.double()
    return x[:, None, :] if x.ndim == 2 else x.transpose(1, 2)


def to_lengths(lengths: Any, series: Tensor) -> Tensor:
    """(B,) int64 on the device of the series.

    Raises:
        DataError: not (B,) whole numbers in 1..L.
    """
    given = to_tensor(lengths, "lengths")
    rows, longest = series.shape[0], series.shape[-1]
    if tuple(given.shape) != (rows,) or given.is_floating_point() or given.is_complex():
        raise DataError(
            f"lengths has shape {tuple(given.shape)} and type {given.dtype}; "
            f"{rows} series need ({rows},) integers."
        )
    if given.min() < 1 or given.max() > longest:
        raise DataError(
            f"lengths run from {given.min()} to {given.max()}; series of {longest} need 1 to {longest}."
        )
    return given.to(series.device, torch.int64)


def padding_lengths(series: Tensor) -> Tensor:
    """(B,) samples of each series (B, D, L) before the NaN at its end, if any."""
    steps = torch.arange(1, series.shape[-1] + 1, device=series.device)
    return torch.where(series.isnan().all(dim=1), 0, steps).amax(dim=-1)


def unequal(series: Tensor, lengths: Tensor) -> Batch:
    """Mean removed over the valid part, zero beyond it, |U|² divided by the valid length.

    Raises:
        DataError: a series without a valid sample.
    """
    if bool((lengths == 0).any()):
        row = int((lengths == 0).nonzero()[0])
        raise DataError(f"Series {row} of the batch is NaN throughout; leave it out.")
    valid = torch.arange(series.shape[-1], device=series.device) < lengths[:, None, None]
    series = torch.where(valid, series, 0)
    count = lengths[:, None, None].to(series.dtype)
    centred = (series - series.sum(dim=-1, keepdim=True) / count).mul_(valid)
    # What rounding leaves of a constant series would pass for a signal.
    rounding = 8 * torch.finfo(series.dtype).eps * series.abs().amax(dim=-1, keepdim=True)
    centred.masked_fill_(centred.abs().amax(dim=-1, keepdim=True) <= rounding, 0.0)
    return Batch(centred.mul_(count.rsqrt()), lengths)


def make_batch(x: Any, lengths: Any = None) -> Batch:
    """The batch of ``x`` (B, L) or (B, L, D); ``lengths`` (B,) marks them as unequal."""
    series = to_series(x)
    if lengths is None:
        return Batch(series, None)
    return unequal(series, to_lengths(lengths, series))


def explain_not_finite(series: Tensor) -> DataError:
    """What to say of a batch whose sums came out NaN or infinite."""
    bad = ~torch.isfinite(series)
    if not bool(bad.any()):
        return DataError(
            f"The squares of series as large as {float(series.abs().max()):.3g} overflow {series.dtype}; "
            "divide them by a constant or give float64."
        )
    row, channel, step = (int(i) for i in bad.nonzero()[0])
    return DataError(
        f"x holds {int(bad.sum())} NaN or infinite values, the first in series {row} of the batch, "
        f"sample {step}, channel {channel}; fill them in, or pad at the end only "
        "(with NaN, or with any value and lengths=)."
    )
