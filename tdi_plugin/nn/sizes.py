"""Which sizes a kernel can have."""

from __future__ import annotations

from tdi_plugin.errors import OptionError


def check_sizes(d_model: int, d_state: int, channels: int, n_ssm: int) -> None:
    """Raise OptionError unless these are sizes of a kernel of conjugate pairs."""
    if d_model < 1 or channels < 1:
        raise OptionError(f"Got d_model={d_model}, channels={channels}; both must be at least 1.")
    if d_state < 2 or d_state % 2:
        raise OptionError(
            f"Got d_state={d_state}; expected an even number of at least 2, as poles come in pairs."
        )
    if n_ssm < 1 or d_model % n_ssm:
        raise OptionError(
            f"n_ssm={n_ssm} does not divide d_model={d_model}; give a divisor, or None for one row a channel."
        )
