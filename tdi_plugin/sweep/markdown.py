"""A study's tables as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tdi_plugin.sweep.metrics import METRICS

FEW = 5
EXPLANATION = f"""Accuracies and gains in points. Brackets are 95 % percentile bootstrap intervals over
matched runs, drawn by data set where there are several; † marks those over fewer than {FEW} data sets, too
few for such an interval to be trusted: read it as the range of the data sets' means.
"""


def study_markdown(name: str, models: dict[str, dict[str, Any]], titles: dict[str, str]) -> str:
    """All tables of a study.

    Args:
        name: the study's.
        models: ``tables.model_table`` by model.
        titles: readable names of arms.
    """
    parts = [f"# {name}\n", EXPLANATION]
    for model, table in models.items():
        base = titles.get(table["base"], table["base"])
        parts.append(f"## {model}: paired gain over {base}, {table['runs']} runs\n")
        parts.append(_arms_table(table, titles))
        parts.append(f"### {model}: by data set, all ratios, final accuracy (runs won)\n")
        parts.append(_grid_by_dataset(table["arms"], base, titles))
        for arm, found in table["arms"].items():
            parts.append(f"### {model}: {titles.get(arm, arm)} by training ratio\n")
            parts.append(_ratio_table(found))
            parts.append(
                f"### {model}: {titles.get(arm, arm)} by data set, final accuracy, mean ± sd over runs\n"
            )
            parts.append(_dataset_table(found["by_dataset"], base, titles.get(arm, arm)))
        parts.append(f"### {model}: what went otherwise (kept in every mean)\n")
        parts.append(_failure_table(table["failures"], titles))
    return "\n".join(parts)


def grid(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join("---" for _ in header) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in body)]) + "\n"


def gain_text(summary: dict[str, Any] | None) -> str:
    """+1.23 [−0.10, +2.50]."""
    if not summary:
        return "–"
    if any(math.isnan(summary[k]) for k in ("low", "high")):
        return signed(summary["mean"])
    mark = "†" if 1 < summary["clusters"] < FEW else ""
    return f"{signed(summary['mean'])} [{signed(summary['low'])}, {signed(summary['high'])}]{mark}"


def signed(value: float | None) -> str:
    """A number of points with its sign."""
    return "–" if value is None or math.isnan(value) else f"{value:+.1f}".replace("-", "−")


def _arms_table(table: dict[str, Any], titles: dict[str, str]) -> str:
    low = any(found["low"] for found in table["arms"].values())
    header = ["arm", "final, all ratios", *(["final, low ratios"] if low else []), "early-5", "early-10",
              "best by validation", "win/tie/loss", "Wilcoxon p", "early-10 conditions won",
              "epochs to base's final (ratio)"]  # fmt: skip
    body = []
    for arm, found in table["arms"].items():
        overall, won, pace = found["overall"], found["early10_conditions"], found["speed"]
        final = overall["final"]
        body.append([
            titles.get(arm, arm), gain_text(final),
            *([gain_text(found["low"].get("final"))] if low else []),
            gain_text(overall["early5"]), gain_text(overall["early10"]), gain_text(overall.get("best")),
            f"{final['wins']}/{final['ties']}/{final['losses']}", f"{final['p_value']:.2g}",
            f"{won['won']} of {won['of']}",
            f"{pace['other_epochs']:.1f} against {pace['base_epochs']:.1f} "
            f"({pace['ratio']:.2f}; never {pace['never']})",
        ])  # fmt: skip
    return grid(header, body)


def _grid_by_dataset(arms: dict[str, Any], base: str, titles: dict[str, str]) -> str:
    rows = {
        arm: {row["dataset"]: row for row in found["by_dataset"] if row["regime"] == "all ratios"}
        for arm, found in arms.items()
    }
    first = next(iter(rows.values()), {})
    datasets, body = list(first), [[base, *(f"{row['base']:.1f}" for row in first.values())]]
    for arm, found in rows.items():
        gains = [found[dataset]["gain"] for dataset in datasets]
        body.append([titles.get(arm, arm), *(f"{signed(g['mean'])} ({g['wins']}/{g['n']})" for g in gains)])
    return grid(["arm", *datasets], body)


def _ratio_table(found: dict[str, Any]) -> str:
    header = ["ratio", "runs", "base"]
    for metric in ("final", "early5", "early10"):
        header += [METRICS[metric], "published"]
    header += ["win/tie/loss", "p"]
    body = []
    for row in found["by_ratio"]:
        final = row["final"]
        cells = [f"{row['ratio']:g}", str(final["n"]), f"{final['base']:.1f}"]
        for i, metric in enumerate(("final", "early5", "early10")):
            cells += [gain_text(row.get(metric)), signed(row["published"][i] if row["published"] else None)]
        cells += [f"{final['wins']}/{final['ties']}/{final['losses']}", f"{final['p_value']:.2g}"]
        body.append(cells)
    return grid(header, body)


def _dataset_table(rows: Sequence[dict[str, Any]], base: str, other: str) -> str:
    header = ["data", "regime", "training series", base, other, "paired gain", "published"]
    body = []
    for row in rows:
        published = row["published"]
        sizes = row["n_train"]
        body.append([
            row["dataset"], row["regime"], f"{sizes[0]}–{sizes[-1]}" if len(sizes) > 1 else str(sizes[0]),
            _mean_and_sd(row["base"], row["base_sd"]), _mean_and_sd(row["other"], row["other_sd"]),
            gain_text(row["gain"]), f"{published[0]} → {published[1]}" if published else "–",
        ])  # fmt: skip
    return grid(header, body)


def _mean_and_sd(mean: float, sd: float) -> str:
    return f"{mean:.1f}" if math.isnan(sd) else f"{mean:.1f} ± {sd:.1f}"


def _failure_table(failures: dict[str, dict[str, int]], titles: dict[str, str]) -> str:
    header = ["arm", "runs", "not finite", "never above chance", "kept own poles"]
    body = [
        [
            titles.get(arm, arm),
            str(n["runs"]),
            str(n["nonfinite"]),
            str(n["no_learning"]),
            str(n["abstained"]),
        ]
        for arm, n in failures.items()
    ]
    return grid(header, body)
