"""Where the resonances go: pure functions from a density over frequency to poles, in float64."""

from __future__ import annotations

from tdi_plugin.poles.allocation import ALLOCATIONS, allocate
from tdi_plugin.poles.placement import damping_of, frequencies_of, log_poles, place

__all__ = ["ALLOCATIONS", "allocate", "damping_of", "frequencies_of", "log_poles", "place"]
