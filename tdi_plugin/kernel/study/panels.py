"""What the study's pictures share: colours, axes, a legend."""

from __future__ import annotations

from typing import Any

from tdi_plugin._optional import require

COLOURS = {"S4D-Lin": "#777777", "TDI": "#c1272d", "TDI peaks": "#e8a33d", "refined": "#1f6fb4"}


def panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure that belongs to no window, and its axes (rows, columns)."""
    figure_class = require("matplotlib.figure", extra="plots", for_="drawing the theory's pictures").Figure
    figure = figure_class(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend_below(figure: Any, ax: Any, columns: int) -> None:
    """The legend of one axes, under the whole figure."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
