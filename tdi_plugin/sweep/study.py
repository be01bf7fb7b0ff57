"""A study: data sets × ratios × seeds × arms × models, as plain YAML, and the groups it falls into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.sweep.study_checks import ENGINES as ENGINES
from tdi_plugin.sweep.study_checks import check
from tdi_plugin.sweep.study_settings import read_settings, to_kinds

STUDIES = Path(__file__).with_name("studies")


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
            OptionError: unknown keys, a missing name or data set, a value of another kind or out of range,
                anything that is named twice.
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
        study = cls(**to_kinds(given))
        check(study)
        return study

    @classmethod
    def load(cls, name: str, overrides: Mapping[str, Any] | None = None) -> Study:
        """A study by name (one of the package's) or by path of a YAML file.

        Overrides take the place of its settings; options under ``tdi`` are added to the study's own.

        Raises:
            OptionError: no such study, a file that is no YAML mapping, or settings that are wrong.
        """
        path = Path(name) if name.endswith((".yaml", ".yml")) else STUDIES / f"{name}.yaml"
        if not path.is_file():
            known = [p.stem for p in STUDIES.glob("*.yaml")]
            raise OptionError(f"No study {name!r}: {choices(name, known)} Or give the path of a .yaml file.")
        settings, given = {"name": path.stem, **read_settings(path)}, dict(overrides or {})
        if isinstance(settings.get("tdi"), Mapping) and isinstance(given.get("tdi"), Mapping):
            given["tdi"] = {**settings["tdi"], **given["tdi"]}
        return cls.of(settings, **given)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they are noted in a store."""
        return asdict(self)
