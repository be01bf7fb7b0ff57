"""The whole study: parts by name, results with their provenance."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tdi_plugin.kernel.study.concentration import concentration
from tdi_plugin.kernel.study.convergence import convergence, sorted_spectra
from tdi_plugin.kernel.study.curves import curves
from tdi_plugin.kernel.study.fit import fit
from tdi_plugin.kernel.study.gain import gain
from tdi_plugin.provenance import environment

PARTS = ("convergence", "fit", "curves", "gain", "concentration")


def run_study(
    parts: Sequence[str] = PARTS,
    seed: int = 0,
    quick: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Run the named parts; ``quick`` takes fewer trials, tasks and steps. Plain values, ready for JSON."""
    lengths = (32, 64, 128) if quick else (64, 128, 256, 512, 1024)
    jobs: dict[str, Callable[[], Any]] = {
        "convergence": lambda: {
            **convergence(lengths, seed),
            "spectra": sorted_spectra((lengths[0], lengths[-1]), seed),
        },
        "fit": lambda: fit(seed, steps=20 if quick else 300),
        "curves": lambda: curves(seed, 5, (4, 32)) if quick else curves(seed, 50),
        "gain": lambda: gain(tasks=4 if quick else 80, seed=seed),
        "concentration": concentration,
    }
    results: dict[str, Any] = {"provenance": provenance(seed, quick, parts)}
    for part in parts:
        started = time.monotonic()
        progress(part)
        results[part] = jobs[part]()
        results["provenance"]["seconds"][part] = round(time.monotonic() - started, 1)
    return results


def provenance(seed: int, quick: bool, parts: Sequence[str]) -> dict[str, Any]:
    """What it takes to run the same study again; its data come from the seed alone."""
    return {
        "config": {"seed": seed, "quick": quick, "parts": list(parts)},
        **environment(),
        "seconds": {},
    }


def write_results(results: dict[str, Any], folder: Path) -> Path:
    """results.json in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    path.write_text(json.dumps(results) + "\n")
    return path
