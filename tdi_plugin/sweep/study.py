"""A study: data sets × ratios × seeds × arms × models, as plain YAML, and the groups it falls into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from tdi_plugin.errors import OptionError, choices

STUDIES = Path(__file__).with_name("studies")
SCHEDULES = ("constant", "cosine")
ENGINES = ("auto", "ensemble", "loop", "lightning")


@dataclass(frozen=True)
class Study:
    """What to run; the defaults are those of the deep low-data runs."""

    name: str
    datasets: tuple[str, ...]
    ratios: tuple[float, ...] = (0.04, 0.16)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Seed of a run: of the subset, the weights and the batch order. A number n in YAML means 0..n-1."""
    arms: tuple[str, ...] = ("lin", "tdi")
    models: tuple[str, ...] = ("deep-batch",)
    base: str = "lin"
    """The arm that the others are compared with."""
    epochs: int = 40
    batch_size: int = 32
    lr: float = 1e-2
    ssm_lr: float = 1e-3
    """Learning rate of dt, A, B and C, as in s4 with a single number for `lr`."""
    weight_decay: float = 0.01
    """Of everything but dt, A and B, which have none, as in s4."""
    clip: float | None = None
    """Largest gradient norm of a run; None for no clipping."""
    schedule: str = "constant"
    """Of the learning rates over the epochs: constant, or cosine (down to zero)."""
    stride: int = 1
    """Keep every stride-th sample of a series (a cheap way to shorter series)."""
    max_test: int | None = None
    """Evaluate on at most this many test series (a fixed stratified choice); None for all."""
    threshold: float = 0.8
    """Accuracy whose first epoch is reported."""
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of data sets, by name."""
    tdi: Mapping[str, Any] = field(default_factory=dict)
    """Options laid under those of every TDI arm."""
    define: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arms of this study alone, in the form of ``arms.yaml``."""
    engine: str = "auto"
    """auto, ensemble (all runs of a group at once), loop, or lightning."""

    @classmethod
    def of(cls, settings: Mapping[str, Any] | None = None, **options: Any) -> Study:
        """Build from YAML-like settings.

        Raises:
            OptionError: unknown keys, a missing name or data set, a ratio outside (0, 1], an unknown engine.
        """
        given = {**(settings or {}), **options}
        known = {f.name for f in fields(cls)}
        for key in given:
            if key not in known:
                raise OptionError(f"Unknown study setting {key!r}: {choices(str(key), known)}")
        for key in ("name", "datasets"):
            if not given.get(key):
                raise OptionError(
                    f"A study needs {key}; add `{key}: …` to its YAML or `{key}=…` to the command."
                )
        for key in ("datasets", "ratios", "seeds", "arms", "models"):
            if key in given:
                given[key] = _sequence(key, given[key])
        for key in ("data", "tdi", "define"):
            given[key] = dict(given.get(key) or {})
        for key in ("lr", "ssm_lr", "weight_decay", "clip"):
            if given.get(key) is not None:
                given[key] = float(given[key])
        study = cls(**given)
        study._check()
        return study

    @classmethod
    def load(cls, name: str, overrides: Mapping[str, Any] | None = None) -> Study:
        """A study by name (one of the package's) or by path of a YAML file.

        Raises:
            OptionError: no such study, or settings that are wrong.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else STUDIES / f"{name}.yaml"
        if not path.is_file():
            known = [p.stem for p in STUDIES.glob("*.yaml")]
            raise OptionError(f"No study {name!r}: {choices(name, known)} Or give the path of a .yaml file.")
        settings = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return cls.of({"name": path.stem, **settings}, **(overrides or {}))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they are noted in a store."""
        return asdict(self)

    def _check(self) -> None:
        from tdi_plugin.sweep.arms import resolve
        from tdi_plugin.sweep.models import model_spec

        for name in self.arms:
            resolve(name, self.define).config(self.tdi)
        for name in self.models:
            model_spec(name)
        for ratio in self.ratios:
            if not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
                raise OptionError(
                    f"Training ratio {ratio!r} is outside (0, 1]; give a part of the training set."
                )
        if self.engine not in ENGINES:
            raise OptionError(f"Unknown engine {self.engine!r}: {choices(str(self.engine), ENGINES)}")
        if self.schedule not in SCHEDULES:
            raise OptionError(f"Unknown schedule {self.schedule!r}: {choices(str(self.schedule), SCHEDULES)}")
        if self.base not in self.arms:
            raise OptionError(
                f"The baseline {self.base!r} is not among the arms {list(self.arms)}; add it, or set base=…."
            )
        for key in ("epochs", "batch_size", "stride"):
            if not isinstance(value := getattr(self, key), int) or value < 1:
                raise OptionError(f"{key}={value!r}; a whole number of at least 1 is needed.")


def _sequence(key: str, value: Any) -> tuple[Any, ...]:
    if key == "seeds" and isinstance(value, int):
        return tuple(range(value))
    if isinstance(value, (str, int, float)):
        return (value,)
    return tuple(float(v) if key == "ratios" and isinstance(v, int) else v for v in value)
