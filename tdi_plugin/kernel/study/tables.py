"""The study's numbers as tables: a part gives one table, and the sentences that go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StudyTable:
    """Text only, so that a terminal and a page print the same."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def tables(results: dict[str, Any]) -> list[StudyTable]:
    """One table a part of ``results``, in the order of the study."""
    known = {
        "convergence": _convergence,
        "fit": _fit,
        "curves": _curves,
        "gain": _gain,
        "concentration": _concentration,
    }
    return [make(results[part]) for part, make in known.items() if part in results]


def _convergence(part: dict[str, Any]) -> StudyTable:
    lengths = part["lengths"]
    rows = []
    for name, s in part["systems"].items():
        bounds = f"{s['low'][-1]:.2g} .. {s['high'][-1]:.2g}"
        rows.append((name, *(f"{d:.2g}" for d in s["distance"]), f"{s['slope']:.2f}", bounds))
    c = part["counterexample"]
    smallest, least = c["smallest_singular_value"][-1], c["smallest_response"][-1]
    note = (
        f"h = [1, -2], L = {c['lengths'][-1]}: smallest singular value {smallest:.1g}, least |H| {least:.3g}."
    )
    columns = ("system", *(f"L={n}" for n in lengths), "slope", f"bounds at {lengths[-1]}")
    return StudyTable("Mean sorted distance of the eigenvalues to |H|^2 / L, relative", columns, rows, [note])


def _fit(part: dict[str, Any]) -> StudyTable:
    rows = [
        (
            f"{task}, {name}", f"{f['coverage']:.2f}", f"{f['area']:.3f}", f"{f['alignment']:.4f}",
            f"{f['mismatch']:.2f}", f"{f['loss']:.4f}",
        )
        for task, t in part.items()
        for name, f in t["arms"].items()
    ]  # fmt: skip
    columns = ("task, poles", "coverage", "area C", "J/sum eta", "mismatch", "L_spec")
    return StudyTable("Fit of a layer to a task (coverage below 1: the band is missed)", columns, rows)


def _curves(part: dict[str, Any]) -> StudyTable:
    keys = ("inside_band", "inside_mean_interval", "naive_inside_band")
    rows = [(kind, *(f"{100 * part[key][kind]:.1f} %" for key in keys)) for kind in part["inside_band"]]
    columns = ("inputs", "in 95 % band of runs", "in 95 % interval of mean", "as if white: in band of runs")
    off = f"{100 * part['median_relative_error']:.1f} %"
    note = f"Median distance from the measured mean: {off}; {part['trials']} runs a point."
    return StudyTable("Points of predicted learning curves inside measured bands", columns, rows, [note])


def _gain(part: dict[str, Any]) -> StudyTable:
    rows = []
    for s in part["summary"]:
        cells = [f"{s['series'] or 'all'} series, {s['arm']}"]
        for kind in ("missed", "covered"):
            g = s[kind]
            cells.append(f"{g['area_up']}, {g['alignment_up']}, {g['error_down']} of {g['tasks']}")
        rows.append((*cells, f"{s['rank_correlation']:.2f}"))
    columns = ("spectrum from, poles", "band missed", "band covered", "rank correlation")
    note = "Cells: tasks on which the area under C, J / sum(eta) and the predicted error improved."
    title = "Random bands: gain, and its rank correlation with the mismatch of S4D-Lin"
    return StudyTable(title, columns, rows, [note])


def _concentration(part: dict[str, Any]) -> StudyTable:
    sizes = part["sizes"]
    shown = [i for i, size in enumerate(sizes) if size in (8, 32, 128, 512)]
    rows = [
        (name, f"{k['loss']:.4f}", f"{k['alignment']:.4f}", *(f"{k['curve'][i]:.2f}" for i in shown))
        for name, k in part["kernels"].items()
    ]
    columns = ("density of |H|^2", "L_spec", "J/sum eta", *(f"error at {sizes[i]}" for i in shown))
    return StudyTable("Alignment against learning", columns, rows)
