"""Where the resonances go: pure functions from a density over frequency to poles, in float64."""

from __future__ import annotations

from tdi_plugin.poles.allocation import ALLOCATIONS, allocate
from tdi_plugin.poles.blocks import discrete_blocks, poles_of_blocks, real_blocks, real_input, real_output
from tdi_plugin.poles.damping import constant_damping, host_damping, width_damping
from tdi_plugin.poles.matching import spectral_loss
from tdi_plugin.poles.placement import damping_of, frequencies_of, log_poles, place
from tdi_plugin.poles.share import task_mask
from tdi_plugin.poles.tying import group_mean, spread_damping

__all__ = [
    "ALLOCATIONS",
    "allocate",
    "constant_damping",
    "damping_of",
    "discrete_blocks",
    "frequencies_of",
    "group_mean",
    "host_damping",
    "log_poles",
    "place",
    "poles_of_blocks",
    "real_blocks",
    "real_input",
    "real_output",
    "spectral_loss",
    "spread_damping",
    "task_mask",
    "width_damping",
]
