"""Write what a store says: Markdown, CSV, JSON and plots."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep.arms import resolve
from tdi_plugin.sweep.markdown import study_markdown
from tdi_plugin.sweep.rows import Row, study_rows
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.tables import model_table


def write_report(
    store: Store, name: str | None, output: Path, low: float = 0.16, high: float = 0.64, plots: bool = True
) -> tuple[str, list[Path]]:
    """Tables of one study, or of all in the store; returns the Markdown and the files written.

    Raises:
        OptionError: no study of that name.
        DataError: no finished group, or a folder that cannot be written.
    """
    texts, paths = [], []
    found = study_rows(store, name)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{output} cannot be a folder for tables ({error.strerror}); give another one with output=DIR."
        ) from error
    for study, rows in found.items():
        settings = store.studies()[study]
        models = {
            model: model_table([r for r in rows if r.model == model], settings["base"], low, high)
            for model in settings["models"]
            if any(r.model == model for r in rows)
        }
        titles = {arm: _title(arm, settings["define"]) for arm in settings["arms"]}
        text = study_markdown(study, models, titles)
        missing = missing_conditions(settings, rows)
        if missing:
            text += f"\nNot finished yet: {', '.join(missing)}.\n"
        texts.append(text)
        paths += [
            _text(output / f"{study}.md", text),
            _json(output / f"{study}.json", models),
            _csv(output / f"{study}.csv", rows),
        ]
        if plots:
            from tdi_plugin.sweep.plots import write_plots

            paths += write_plots(rows, settings["base"], titles, output, study)
    return "\n".join(texts), paths


def missing_conditions(settings: dict[str, Any], rows: Sequence[Row]) -> list[str]:
    """Groups of a study that the store does not hold yet."""
    there = {row.condition for row in rows}
    return [
        f"{dataset} {100 * ratio:g} % {model}"
        for dataset in settings["datasets"]
        for ratio in settings["ratios"]
        for model in settings["models"]
        if (model, dataset, ratio) not in there
    ]


def _title(arm: str, define: dict[str, Any]) -> str:
    """The arm's title; its name where this version of the package no longer has it."""
    try:
        return resolve(arm, define).title
    except OptionError:
        return arm


def _text(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror}); give another folder with output=DIR."
        ) from error
    return path


def _json(path: Path, value: Any) -> Path:
    return _text(path, json.dumps(_finite(value), indent=1, ensure_ascii=False) + "\n")


def _csv(path: Path, rows: Sequence[Row]) -> Path:
    names = list(rows[0].metrics)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["model", "dataset", "ratio", "n_train", "seed", "arm", *names])
    for r in sorted(rows, key=lambda r: (*r.condition, r.seed, r.arm)):
        writer.writerow(
            [r.model, r.dataset, r.ratio, r.n_train, r.seed, r.arm, *(r.metrics[n] for n in names)]
        )
    return _text(path, file.getvalue())


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and value != value else value
