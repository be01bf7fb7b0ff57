"""Whose parameters are written: one small adapter a codebase, behind one protocol."""

from __future__ import annotations

from tdi_plugin.hosts.protocol import Host
from tdi_plugin.hosts.registry import find_hosts, register_host

__all__ = ["Host", "find_hosts", "register_host"]
