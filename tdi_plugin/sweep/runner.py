"""Run what a store does not hold yet, together with any other process that does the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tdi_plugin.errors import DataError, TDIError
from tdi_plugin.sweep.atomic import content_key
from tdi_plugin.sweep.group import Group, study_groups
from tdi_plugin.sweep.group_data import MAX_VALIDATION
from tdi_plugin.sweep.models import model_spec
from tdi_plugin.sweep.protocol import group_data, resolve_engine, run_group
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

Report = Callable[[str, float, float], None]
"""(what is running, work done, work in all), in arbitrary units of equal cost."""


@dataclass(frozen=True)
class Outcome:
    """How a call of ``run_study`` went, in groups."""

    ran: int
    """Trained and saved by this process."""
    found: int
    """Already finished when it began."""
    elsewhere: int
    """Finished meanwhile by another process, or (with wait=False) still at work there."""


def run_study(
    study: Study, store: Store, report: Report | None = None, wait: bool = True, poll: float = 1.0
) -> Outcome:
    """Finish a study: every group exactly once among all processes that work on the store.

    Args:
        study: what to run.
        store: where finished groups are and go.
        report: progress.
        wait: at the end wait for groups that other processes hold, and take over those whose process dies.
        poll: seconds between looks while waiting.

    Raises:
        OptionError: the store has a study of this name with other settings.
        DataError: a data set that cannot be read or used, or that changes meanwhile.
    """
    groups = plan(study, store)
    costs = {key: cost(group) for key, group in groups.items()}
    pending = [key for key in groups if store.load(key) is None]
    found, ran, total = len(groups) - len(pending), 0, sum(costs.values())
    waiting = False
    while pending:
        held_elsewhere = []
        for key in pending:
            done = total - sum(
                costs[k] for k in groups if k == key or (k in pending and store.load(k) is None)
            )
            with store.claim(key) as mine:
                if not mine:
                    held_elsewhere.append(key)
                    continue
                if store.load(key) is not None:
                    continue
                group = groups[key]

                def progress(
                    part: float, group: Group = group, done: float = done, own: float = costs[key]
                ) -> None:
                    if report is not None:
                        report(str(group), done + part * own, total)

                progress(0.0)
                store.save(key, _record(group, key, progress))
                ran += 1
        pending = [key for key in held_elsewhere if store.load(key) is None]
        if not wait:
            break
        if pending and report is not None:
            report("waiting for another process", total - sum(costs[k] for k in pending), total)
        if waiting and pending:
            time.sleep(poll)
        waiting = True
    if report is not None and not pending:
        report("done", total, total)
    return Outcome(ran, found, len(groups) - found - ran)


def _record(group: Group, key: str, progress: Callable[[float], None]) -> dict[str, Any]:
    try:
        record = run_group(group, progress=progress)
    except TDIError as error:
        raise type(error)(f"{group}: {error}") from error
    if content_key(record["settings"]) != key:
        raise DataError(f"{group}: the data changed while the study ran; give the command again.")
    return record


def plan(study: Study, store: Store) -> dict[str, Group]:
    """The study's groups by key in running order, noted in the store.

    Raises:
        OptionError: the store has a study of this name with other settings.
        DataError: a data set that cannot be read.
    """
    groups = {
        group.key(group_data(group).digest, resolve_engine(study.engine, group.model)): group
        for group in study_groups(study)
    }
    store.register(study.name, study.as_dict(), list(groups))
    return groups


def cost(group: Group) -> float:
    """Work of a group up to a common factor: samples that pass through its models' channels, and back."""
    data, study, spec = group_data(group), group.study, model_spec(group.model)
    train = max(int(data.full.y.unique().numel()), round(group.ratio * len(data.full)))
    val = min(MAX_VALIDATION, len(data.full) - train) if data.val is None else len(data.val)
    samples = (3 * train + len(data.test) + val) * data.length
    runs = len(study.seeds) * len(study.arms) * study.epochs
    return float(samples) * runs * spec["d_model"] * spec.get("n_layers", 1)
