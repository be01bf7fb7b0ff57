"""One picture a part of the study, as small PNG files. matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from tdi_plugin._optional import require
from tdi_plugin.kernel.study.draw_learning import draw_curves, draw_gain
from tdi_plugin.kernel.study.draw_spectra import draw_concentration, draw_convergence, draw_fit

DPI = 90

DRAW: dict[str, Callable[[dict[str, Any]], Any]] = {
    "convergence": draw_convergence,
    "fit": draw_fit,
    "curves": draw_curves,
    "gain": draw_gain,
    "concentration": draw_concentration,
}


def write_pictures(results: dict[str, Any], folder: Path) -> list[Path]:
    """theory-PART.png of every part in ``results``, with few colours so that the files stay small.

    Raises:
        MissingDependency: matplotlib isn't there.
    """
    image = require("PIL.Image", extra="plots", for_="drawing the theory's pictures")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part in (p for p in DRAW if p in results):
        drawn = BytesIO()
        DRAW[part](results[part]).savefig(drawn, dpi=DPI, format="png")
        paths.append(folder / f"theory-{part}.png")
        image.open(drawn).convert("RGB").quantize(96).save(paths[-1], optimize=True)
    return paths
