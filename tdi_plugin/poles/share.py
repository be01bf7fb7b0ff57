"""Which pole pairs take task frequencies, and which keep the host's own."""

from __future__ import annotations

import torch
from torch import Tensor

from tdi_plugin.errors import OptionError, choices

SHARE_OVER = ("pairs", "rows")


def task_mask(rows: int, pairs: int, share: float, over: str = "pairs") -> Tensor:
    """(S, P) bool, True where a task pole goes: round(share * n), at least one, spread evenly.

    Args:
        rows: S.
        pairs: P.
        share: part in (0, 1].
        over: "pairs", that part of each row's pairs; "rows", that part of the rows, whole.

    Raises:
        OptionError: share or over out of range.
    """
    if not 0 < share <= 1:
        raise OptionError(f"share={share!r} is outside (0, 1]; 1 gives every pair a task pole.")
    if over not in SHARE_OVER:
        raise OptionError(f"Unknown share_over {over!r}: {choices(str(over), SHARE_OVER)}")
    count = pairs if over == "pairs" else rows
    taken = max(1, round(share * count))
    # Of an even pattern the last of each group, so that the host's lowest pole is among those that stay.
    position = torch.arange(1, count + 1) * taken // count
    chosen = position > torch.cat([position.new_zeros(1), position[:-1]])
    return (
        chosen.expand(rows, pairs).clone() if over == "pairs" else chosen[:, None].expand(rows, pairs).clone()
    )
