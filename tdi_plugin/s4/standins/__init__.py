"""Stand-ins, in this process only, for packages that s4 imports and that do not import here.

Each has just what s4's data modules call. A package that imports is never replaced.
"""

from tdi_plugin.s4.standins.finder import PROVIDED, install, provided

__all__ = ["PROVIDED", "install", "provided"]
