"""Measuring in a process of its own: peak memory, and packages that must not meet others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a module's function in a fresh process with as many threads as this one's."""
    with ProcessPoolExecutor(1, get_context("spawn"), _start, (torch.get_num_threads(),)) as pool:
        return pool.submit(function, *arguments).result()


def _start(threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    sys.stdout = sys.stderr  # what is imported may print, and results are lines of their own


def resident(field: str) -> float:
    """MB of this process, now (VmRSS) or at most (VmHWM, which unlike ru_maxrss starts afresh at exec)."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024
