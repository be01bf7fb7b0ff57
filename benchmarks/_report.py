"""What every benchmark has: a command line, and a JSON object a line as its results."""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import Any

import torch


def command_line(description: str | None, parts: Iterable[str] = ()) -> ArgumentParser:
    """A parser with the script's own text as its help, and the parts to run, all by default."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    if parts:
        parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all by default")
    return parser


def report(name: str, shape: Any, reference: str, **measured: Any) -> None:
    """Print what was measured, numbers to four digits, and beside what."""
    rounded = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in measured.items()}
    _print(name=name, shape=shape, threads=torch.get_num_threads(), **rounded, reference=reference)


def skipped(name: str, why: str) -> None:
    """Print that a part could not run."""
    _print(name=name, skipped=why)


def _print(**line: Any) -> None:
    print(json.dumps(line), flush=True)
