"""Everything that knows state-spaces/s4: registration, stand-ins, launcher, doctor, data sets.

Nothing of s4 is imported here or copied; what is used is what the running process has loaded.
"""

from tdi_plugin.s4.process import is_s4_process
from tdi_plugin.s4.register import register

__all__ = ["is_s4_process", "register"]
