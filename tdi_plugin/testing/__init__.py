"""For authors of host adapters: a conformance suite to inherit, and measurements to check against."""

from __future__ import annotations

from tdi_plugin.testing.conformance import HostConformance
from tdi_plugin.testing.measure import (
    one_pole_at_a_time,
    placement_errors,
    resonances,
    response_of_kernel,
)

__all__ = ["HostConformance", "one_pole_at_a_time", "placement_errors", "resonances", "response_of_kernel"]
