"""One group: every seed and arm of a data set, ratio and model, trained on equal terms."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from tdi_plugin.provenance import environment
from tdi_plugin.sweep.arms import resolve
from tdi_plugin.sweep.ensemble import train_ensemble
from tdi_plugin.sweep.group import Group, study_groups
from tdi_plugin.sweep.group_data import GroupData, RunData, load_group_data
from tdi_plugin.sweep.loop import Curves, Optimisation, batch_order, train_loop
from tdi_plugin.sweep.members import member
from tdi_plugin.sweep.models import builder, model_spec
from tdi_plugin.sweep.rows import group_rows, pairs
from tdi_plugin.sweep.study import Study

Progress = Callable[[float], None]
Engine = Callable[
    [Sequence[nn.Module], Sequence[RunData], Sequence[Tensor], Optimisation, Progress | None], list[Curves]
]


def run_group(group: Group, engine: str | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """Train a group and return its record, as a store keeps it.

    Arms of one seed share the subset, the order of batches, every weight but the poles, and the optimiser.

    Args:
        group: from ``study_groups``.
        engine: overrides the study's.
        progress: called with the part that is done, 0..1.

    Returns:
        ``settings``, ``n_train``, ``chance``, ``provenance`` and ``runs``: one mapping a seed and arm, with
        ``curves`` and what the spectrum chose.
    """
    study = group.study
    data = group_data(group)
    engine = resolve_engine(engine or study.engine, group.model)
    options = Optimisation(
        study.epochs, study.batch_size, study.lr, study.weight_decay, study.clip, study.schedule
    )
    build = builder(group.model, data, study.ssm_lr)
    labels: list[tuple[int, str, dict[str, Any]]] = []
    models: list[nn.Module] = []
    runs: list[RunData] = []
    orders: list[Tensor] = []
    started = time.monotonic()
    for seed in study.seeds:
        run = data.run(group.ratio, seed)
        order = batch_order(len(run.train), study.epochs, seed)
        for name in study.arms:
            model, placed = member(build, resolve(name, study.define), run.train, seed, study.tdi)
            models.append(model)
            runs.append(run)
            orders.append(order)
            labels.append((seed, name, placed))
    curves = engine_function(engine)(models, runs, orders, options, progress)
    return {
        "settings": group.settings(data.digest, engine),
        "n_train": len(runs[0].train),
        "chance": data.chance,
        "runs": [
            {"seed": seed, "arm": name, **placed, "curves": curve}
            for (seed, name, placed), curve in zip(labels, curves, strict=True)
        ],
        "provenance": {
            **environment(), "seconds": round(time.monotonic() - started, 1), "data": data.source,
        },
    }  # fmt: skip


def paired(
    record: dict[str, Any], other: str, base: str = "lin", metric: str = "final"
) -> tuple[list[float], list[float]]:
    """(base, other): the metric of two arms of a group, seed by seed, for ``statistics.paired_summary``."""
    matched = pairs(group_rows(record), base, other)
    return [b.metrics[metric] for b, _ in matched], [o.metrics[metric] for _, o in matched]


def group_data(group: Group) -> GroupData:
    """The group's data set, read once for groups that follow each other."""
    study = group.study
    options = sorted(study.data.get(group.dataset, {}).items())
    fixed = tuple((key, _hashable(value)) for key, value in options)
    return load_group_data(group.dataset, study.stride, study.max_test, fixed)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def resolve_engine(name: str, model: str) -> str:
    """What "auto" means for a model: all runs at once where that is quicker on a CPU, else the plain loop."""
    if name != "auto":
        return name
    return "ensemble" if model_spec(model)["kind"] == "one-layer" else "loop"


def engine_function(name: str) -> Engine:
    """The engine of a resolved name."""
    if name == "ensemble":
        return train_ensemble
    if name == "lightning":
        from tdi_plugin.sweep.lightning_engine import train_lightning

        return train_lightning
    return train_loop


__all__ = ["Study", "paired", "run_group", "study_groups"]
