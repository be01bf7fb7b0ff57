"""The groups that a study falls into: one data set, ratio and model each, stored in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tdi_plugin.sweep.arms import resolve
from tdi_plugin.sweep.atomic import content_key
from tdi_plugin.sweep.models import model_spec
from tdi_plugin.sweep.study import Study

SHARED = (
    *("epochs", "batch_size", "lr", "ssm_lr", "weight_decay", "clip", "schedule"),
    *("stride", "max_test", "threshold"),
)
"""Settings that every group of a study shares."""
REVISION = 4
"""Raised when a change of code changes the numbers that a group of equal settings gives."""


@dataclass(frozen=True)
class Group:
    """All seeds and arms of one data set, ratio and model: trained together, stored in one file."""

    study: Study
    dataset: str
    ratio: float
    model: str

    def __str__(self) -> str:
        return f"{self.dataset} {100 * self.ratio:g} % {self.model}"

    def settings(self, data_hash: str, engine: str) -> dict[str, Any]:
        """All that the group's numbers depend on."""
        study = self.study
        options = study.data.get(self.dataset)
        return {
            **({"options": dict(options)} if options else {}),
            "revision": REVISION, "dataset": self.dataset, "data": data_hash, "ratio": self.ratio,
            "model": {"name": self.model, **model_spec(self.model)},
            "arms": {name: resolve(name, study.define).settings(study.tdi) for name in study.arms},
            "seeds": list(study.seeds), "engine": engine, **{key: getattr(study, key) for key in SHARED},
        }  # fmt: skip

    def key(self, data_hash: str, engine: str) -> str:
        """Name of the group's file in a store."""
        return content_key(self.settings(data_hash, engine))


def study_groups(study: Study) -> Iterator[Group]:
    """Groups in running order: small ratios first, so that every data set shows something early."""
    for ratio in sorted(study.ratios):
        for dataset in study.datasets:
            for model in study.models:
                yield Group(study, dataset, ratio, model)
