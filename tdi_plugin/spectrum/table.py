"""A task spectrum as text: where its peaks are, and what they rest on."""

from __future__ import annotations

from typing import Any

from tdi_plugin.spectrum.peaks import leading_peaks
from tdi_plugin.spectrum.value import TaskSpectrum


def spectrum_table(spectrum: TaskSpectrum, title: str = "", most: int = 8) -> list[Any]:
    """The parts to print with rich: a table of peaks and the lines below it."""
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for name in ("peak", "cycles/sample", "period (samples)", "Hz", "share of mass", "p"):
        if name != "Hz" or spectrum.sample_rate is not None:
            table.add_column(name, justify="right")
    for rank, peak in enumerate(leading_peaks(spectrum, most), start=1):
        hertz = [] if peak.hertz is None else [f"{peak.hertz:.4g}"]
        p_value = "" if peak.p_value is None else f"{peak.p_value:.3f}"
        cells = [
            f"{rank}",
            f"{peak.frequency:.4f}",
            f"{peak.period:.1f}",
            *hertz,
            f"{peak.share:.1%}",
            p_value,
        ]
        table.add_row(*cells, style="bold" if peak.p_value is not None and peak.p_value <= 0.05 else None)
    return [table, *summary(spectrum)]


def summary(spectrum: TaskSpectrum) -> list[str]:
    """What the spectrum rests on, in lines."""
    left_out = f", {spectrum.left_out} constant ones left out" if spectrum.left_out else ""
    channels = f", {len(spectrum.channels)} channels" if spectrum.channels is not None else ""
    lines = [
        f"{spectrum.statistic} spectrum of {spectrum.n_series} series of {spectrum.length} samples"
        f"{channels}{left_out}"
    ]
    if spectrum.reason:
        lines.append(f"because {spectrum.reason}")
    cumulated = spectrum.density.cumsum(0)
    low, middle, high = (float((cumulated < q).sum()) / spectrum.length for q in (0.25, 0.5, 0.75))
    lines.append(
        f"half of its mass lies between {low:.4f} and {high:.4f}, the middle at {middle:.4f} cycles/sample"
    )
    if spectrum.significant is not None:
        count, of = int(spectrum.significant.sum()), len(spectrum.significant) - 1
        lines.append(
            f"{count} of {of} frequencies stand out against shuffled labels (5 % over all together); the "
            f"highest with p = {spectrum.p_value:.3f}"
        )
    return lines
