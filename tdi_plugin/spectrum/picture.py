"""A task spectrum as a picture: the density, what shuffled labels reach, and what stands out."""

from __future__ import annotations

from pathlib import Path

from tdi_plugin._optional import require
from tdi_plugin.spectrum.peaks import leading_peaks
from tdi_plugin.spectrum.value import TaskSpectrum


def save_picture(spectrum: TaskSpectrum, path: str | Path, title: str = "") -> Path:
    """Draw to a .png, .pdf or .svg and return its path.

    Raises:
        MissingDependency: without matplotlib.
    """
    figure_of = require("matplotlib.figure", extra="plots", for_="a picture of the spectrum").Figure
    figure = figure_of(figsize=(8, 3.5), layout="constrained")
    axes = figure.add_subplot()
    scale = spectrum.sample_rate or 1.0
    frequencies, mass = (spectrum.frequencies * scale).numpy()[1:], float(spectrum.power[1:].sum())
    axes.plot(frequencies, spectrum.density.numpy()[1:], color="C0", linewidth=1, label=spectrum.statistic)
    if spectrum.band is not None:
        band = (spectrum.band / mass).numpy()[1:]
        axes.fill_between(frequencies, band, color="0.85", label="95 % of shuffled labels, each frequency")
    if spectrum.significant is not None and bool(spectrum.significant.any()):
        where = spectrum.significant.nonzero()[:, 0]
        heights = spectrum.density[where].numpy()
        axes.plot((where / spectrum.length * scale).numpy(), heights, "o", color="C3", markersize=4,
                  label="significant at 5 % over all")  # fmt: skip
    for peak in leading_peaks(spectrum, 3):
        axes.annotate(
            f"{peak.frequency * scale:.3g}",
            (peak.frequency * scale, float(spectrum.density[peak.bin])),
            textcoords="offset points",
            xytext=(0, 4),
            ha="center",
        )
    axes.set_xlabel("cycles/sample" if spectrum.sample_rate is None else "Hz")
    axes.set_ylabel("density")
    axes.set_xlim(0, scale / 2)
    axes.set_ylim(bottom=0)
    axes.margins(y=0.12)
    axes.set_title(title)
    axes.legend(frameon=False)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path
