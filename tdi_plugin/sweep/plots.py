"""Pictures of a study: accuracy by ratio, paired gains, learning curves, aeon's comparison matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tdi_plugin._optional import require
from tdi_plugin.sweep.rows import Row, pairs
from tdi_plugin.sweep.statistics import paired_summary


def write_plots(
    rows: Sequence[Row], base: str, titles: Mapping[str, str], output: Path, study: str
) -> list[Path]:
    """Draw every picture that the rows allow into ``output``, one set a model.

    Raises:
        MissingDependency: matplotlib is not installed.
    """
    require("matplotlib", extra="plots", for_="drawing the plots of a study (or give plots=false)")
    paths = []
    for model in dict.fromkeys(row.model for row in rows):
        mine = [row for row in rows if row.model == model]
        alone = all(row.arm == base for row in mine)
        for kind, draw in (("accuracy", _accuracy), ("gain", _gain), ("curves", _curves)):
            if kind == "gain" and alone:
                continue
            path = output / f"{study}-{model}-{kind}.png"
            figure = draw(mine, base, titles)
            figure.suptitle(f"{study}, {model}", fontsize=10)
            figure.savefig(path, dpi=110)
            paths.append(path)
        matrix = comparison_matrix(mine, titles, output / f"{study}-{model}-matrix.png")
        paths += [matrix] if matrix else []
    return paths


def _figure(n: int, width: float = 3.4, height: float = 2.7, columns: int = 4) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    columns = min(n, columns)
    lines = math.ceil(n / columns)
    figure = Figure(figsize=(width * columns + 1.6, height * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel().tolist()
    for spare in axes[n:]:
        spare.set_visible(False)
    return figure, axes[:n]


def _color(i: int) -> Any:
    """Of the arm in this place: twenty that can be told apart, the strong ones first."""
    from matplotlib import colormaps

    return colormaps["tab20"]((2 * i) % 20 + (i // 10) % 2)


def _band(axis: Any, x: Sequence[float], values: Sequence[Sequence[float]], label: str, color: Any) -> None:
    """Mean with a band of one standard deviation over seeds."""
    centre = np.array([np.mean(v) for v in values])
    spread = np.array([np.std(v, ddof=1) if len(v) > 1 else 0.0 for v in values])
    axis.plot(x, centre, marker="." if len(x) < 15 else None, label=label, color=color)
    axis.fill_between(x, centre - spread, centre + spread, color=color, alpha=0.15, linewidth=0)


def _accuracy(rows: Sequence[Row], base: str, titles: Mapping[str, str]) -> Any:
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    figure, axes = _figure(len(datasets))
    for axis, dataset in zip(axes, datasets, strict=True):
        for i, arm in enumerate(dict.fromkeys(row.arm for row in rows)):
            by_ratio: dict[float, list[float]] = {}
            for row in rows:
                if row.dataset == dataset and row.arm == arm:
                    by_ratio.setdefault(row.ratio, []).append(100 * row.metrics["final"])
            ratios = sorted(by_ratio)
            _band(axis, ratios, [by_ratio[r] for r in ratios], titles.get(arm, arm), _color(i))
        axis.set(title=dataset, xlabel="training ratio", ylabel="final accuracy, %", xscale="log")
        shown = sorted({row.ratio for row in rows})
        axis.set_xticks(shown, [f"{ratio:g}" for ratio in shown], fontsize=7)
        axis.minorticks_off()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


def _gain(rows: Sequence[Row], base: str, titles: Mapping[str, str]) -> Any:
    arms = [arm for arm in dict.fromkeys(row.arm for row in rows) if arm != base]
    figure, axes = _figure(len(arms))
    for axis, arm in zip(axes, arms, strict=True):
        matched = pairs(rows, base, arm)
        ratios = sorted({b.ratio for b, _ in matched})
        for i, metric in enumerate(("final", "early10")):
            for position, ratio in enumerate(ratios):
                mine = [p for p in matched if p[0].ratio == ratio]
                values = [[100 * p[j].metrics[metric] for p in mine] for j in (0, 1)]
                found = paired_summary(values[0], values[1], [b.dataset for b, _ in mine])
                at = position + 0.25 * i - 0.12
                deltas = np.subtract(values[1], values[0])
                axis.plot(np.full(len(deltas), at), deltas, ".", color=f"C{i}", alpha=0.25, markersize=4)
                axis.vlines(at, found.low, found.high, color=f"C{i}", linewidth=3)
                axis.plot(
                    at, found.mean, "o", markersize=4, color=f"C{i}", label=metric if position == 0 else None
                )
        axis.axhline(0, color="0.5", linewidth=0.8)
        axis.set_xticks(range(len(ratios)), [f"{r:g}" for r in ratios])
        axis.set_xlim(-0.6, len(ratios) - 0.4)
        axis.set(title=titles.get(arm, arm), xlabel="training ratio", ylabel="paired gain, points")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


def _curves(rows: Sequence[Row], base: str, titles: Mapping[str, str]) -> Any:
    conditions = sorted({(row.dataset, row.ratio) for row in rows}, key=lambda c: (c[1], c[0]))[:24]
    figure, axes = _figure(len(conditions))
    for axis, (dataset, ratio) in zip(axes, conditions, strict=True):
        for i, arm in enumerate(dict.fromkeys(row.arm for row in rows)):
            mine = [r for r in rows if (r.dataset, r.ratio, r.arm) == (dataset, ratio, arm)]
            if mine:
                epochs = list(zip(*(r.curves["test_accuracy"] for r in mine), strict=True))
                percent = [[100 * (v or 0.0) for v in e] for e in epochs]
                _band(axis, range(1, len(epochs) + 1), percent, titles.get(arm, arm), _color(i))
        axis.set(title=f"{dataset}, {100 * ratio:g} %", xlabel="epoch", ylabel="test accuracy, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


def comparison_matrix(rows: Sequence[Row], titles: Mapping[str, str], path: Path) -> Path | None:
    """aeon's multi-comparison matrix; None without aeon, or with fewer than three arms or conditions."""
    arms = list(dict.fromkeys(row.arm for row in rows))
    conditions = sorted({row.condition for row in rows})
    if len(arms) < 3 or len(conditions) < 3:
        return None
    try:
        from aeon.visualisation import create_multi_comparison_matrix
    except ImportError:
        return None
    import pandas as pd

    table = [
        [np.mean([r.metrics["final"] for r in rows if r.condition == c and r.arm == arm]) for arm in arms]
        for c in conditions
    ]
    frame = pd.DataFrame(table, columns=[titles.get(arm, arm) for arm in arms])
    create_multi_comparison_matrix(
        frame,
        save_path=str(path.with_suffix("")),
        formats="png",
        statistic_name="Accuracy",
        pvalue_test_params={"zero_method": "pratt", "alternative": "two-sided"},
    )
    return path
