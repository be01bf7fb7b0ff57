"""The arms of a study: each a few lines of YAML that say how a run's poles are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import OptionError, choices

CHOICES = {
    "init": ("diag-lin", "diag-inv", "diag-legs"),
    "spectrum": ("task", "flat"),
    "labels": ("true", "shuffled"),
    "step": ("host", "autocorrelation"),
}
NOT_THE_ARMS = ("enabled", "train_ratio", "subset_seed", "seed", "fast_kernel", "spectrum_file")
"""Options of ``tdi_`` that are a study's own affair: no arm may set them, nor ``source``."""


@dataclass(frozen=True)
class Arm:
    """How one arm's poles are set; see ``arms.yaml`` for what each setting means."""

    name: str
    title: str
    init: str = "diag-lin"
    tdi: Mapping[str, Any] | None = None
    spectrum: str = "task"
    labels: str = "true"
    alpha: float = 1.0
    step: str = "host"
    refine: Mapping[str, Any] | None = None

    def config(self, defaults: Mapping[str, Any] | None = None) -> TDIConfig | None:
        """Options of ``tdi_`` over the study's own, or None for an arm that keeps its init's poles."""
        if self.tdi is None:
            return None
        given = {**(defaults or {}), **self.tdi}
        if refused := sorted(set(given) & {*NOT_THE_ARMS, "source"}):
            raise OptionError(
                f"Arm {self.name!r}: tdi.{refused[0]} is not an arm's to set: ratios and seeds are the "
                "study's, and every arm measures its spectrum on the run's training series. Leave it out."
            )
        return TDIConfig.of(given)

    def settings(self, defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All that the arm's numbers depend on, defaults of ``tdi_`` spelled out; not the title."""
        found = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("name", "title", "tdi")
        }
        config = self.config(defaults)
        options = None if config is None else config.as_dict()
        found["tdi"] = options and {k: v for k, v in options.items() if k not in NOT_THE_ARMS}
        return {**found, "refine": None if self.refine is None else dict(self.refine)}

    @classmethod
    def of(cls, name: str, settings: Mapping[str, Any]) -> Arm:
        """Build from YAML-like settings.

        Raises:
            OptionError: unknown keys or values.
        """
        known = {f.name for f in fields(cls)} - {"name"}
        for key in settings:
            if key not in known:
                raise OptionError(f"Arm {name!r}: unknown setting {key!r}: {choices(str(key), known)}")
        found = cls(name=name, **{"title": name, **settings})
        for key, allowed in CHOICES.items():
            if (value := getattr(found, key)) not in allowed:
                raise OptionError(f"Arm {name!r}: {key}={value!r}: {choices(str(value), allowed)}")
        if found.tdi is None and (
            found.spectrum != "task" or found.labels != "true" or found.refine is not None
        ):
            raise OptionError(f"Arm {name!r} sets a spectrum but no poles from it; add `tdi: {{}}`.")
        found.config()
        return found


@cache
def arms() -> dict[str, Arm]:
    """Every arm by name."""
    raw = yaml.safe_load(Path(__file__).with_name("arms.yaml").read_text(encoding="utf-8"))
    return {name: Arm.of(name, settings) for name, settings in raw.items()}


def arm(name: str) -> Arm:
    """The arm of this name.

    Raises:
        OptionError: no such arm.
    """
    known = arms()
    if name not in known:
        raise OptionError(f"Unknown arm {name!r}: {choices(str(name), known)}")
    return known[name]


def resolve(name: str, extra: Mapping[str, Mapping[str, Any]]) -> Arm:
    """An arm from a study's own definitions first, else from the registry."""
    return Arm.of(name, extra[name]) if name in extra else arm(name)
