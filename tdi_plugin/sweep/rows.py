"""A store's groups as flat rows, one a run, and matched pairs of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.sweep.metrics import run_metrics
from tdi_plugin.sweep.store import Store


@dataclass(frozen=True)
class Row:
    """One run."""

    model: str
    kind: str
    dataset: str
    ratio: float
    seed: int
    arm: str
    n_train: int
    abstains: bool
    """Whether the task spectrum found nothing in the labels, so that the run kept its own poles."""
    metrics: Mapping[str, float]
    curves: Mapping[str, Sequence[float | None]]

    @property
    def condition(self) -> tuple[str, str, float]:
        """Model, data set and ratio."""
        return self.model, self.dataset, self.ratio


def study_rows(store: Store, name: str | None = None) -> dict[str, list[Row]]:
    """Rows by study: of the one named, or of every study in the store.

    Raises:
        OptionError: no study of that name in the store.
        DataError: no finished group.
    """
    studies = store.studies()
    if name is not None and name not in studies:
        raise OptionError(f"No study {name!r} in {store.root}: {choices(name, studies)}")
    found = {
        study: [row for group in store.groups(study).values() for row in group_rows(group)]
        for study in (studies if name is None else [name])
    }
    found = {study: rows for study, rows in found.items() if rows}
    if not found:
        raise DataError(
            f"No finished group in {store.root}; run `tdi sweep study=NAME store={store.root}` first."
        )
    return found


def group_rows(group: Mapping[str, Any]) -> list[Row]:
    """The runs of a stored group."""
    settings = group["settings"]
    return [
        Row(
            settings["model"]["name"], settings["model"]["kind"], settings["dataset"], settings["ratio"],
            run["seed"], run["arm"], group["n_train"], bool(run.get("abstains")),
            run_metrics(run["curves"], group["chance"], settings["threshold"]), run["curves"],
        )
        for run in group["runs"]
    ]  # fmt: skip


def pairs(rows: Iterable[Row], base: str, other: str) -> list[tuple[Row, Row]]:
    """Runs of two arms on the same model, data set, ratio and seed."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((*row.condition, row.seed), {})[row.arm] = row
    return [(arms[base], arms[other]) for arms in found.values() if base in arms and other in arms]
