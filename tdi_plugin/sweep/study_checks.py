"""What must hold of a study before anything is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tdi_plugin.errors import OptionError, check_options, choices
from tdi_plugin.sweep.study_settings import LISTS, number

if TYPE_CHECKING:
    from tdi_plugin.sweep.study import Study

SCHEDULES = ("constant", "cosine")
ENGINES = ("auto", "ensemble", "loop", "lightning")
LARGEST_SEED = 2**63 - 1


def check(study: Study) -> None:
    """Every setting is of its kind, in its range, and known where it is a name.

    Raises:
        OptionError: the first that is not.
    """
    from tdi_plugin.sweep.arms import resolve
    from tdi_plugin.sweep.models import model_spec

    check_name(study.name)
    for key in LISTS:
        _check_list(key, getattr(study, key))
    _check_define(study.define)
    for name in study.arms:
        resolve(name, study.define).config(study.tdi)
    for name in study.models:
        model_spec(name)
    for ratio in study.ratios:
        if not 0 < ratio <= 1:
            raise OptionError(f"Training ratio {ratio!r} is outside (0, 1]; give a part of the training set.")
    for seed in study.seeds:
        if not _is_whole(seed) or not 0 <= seed <= LARGEST_SEED:
            raise OptionError(
                f"Seed {seed!r}: expected whole numbers from 0 on, as in seeds=[0,1,2], or seeds=3."
            )
    for key, known in (("engine", ENGINES), ("schedule", SCHEDULES)):
        if (value := getattr(study, key)) not in known:
            raise OptionError(f"Unknown {key} {value!r}: {choices(str(value), known)}")
    if study.base not in study.arms:
        raise OptionError(
            f"The baseline {study.base!r} is not among the arms {list(study.arms)}; add it, or set base=…."
        )
    _check_numbers(study)
    for name, options in study.data.items():
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise OptionError(f"data: {name!r} has {options!r}; expected options, as in {{stride: 2}}.")


def check_name(name: Any) -> None:
    """A study's name is part of file names.

    Raises:
        OptionError: no text, or one that cannot be a file's name.
    """
    if not isinstance(name, str) or not name.isprintable() or set(name) & set("/\\") or name.startswith("."):
        raise OptionError(
            f"name={name!r}: a study's files are named after it; expected text without / and \\ and with no "
            "dot in front."
        )


def _check_list(key: str, values: Sequence[Any]) -> None:
    if not values:
        raise OptionError(f"A study needs {key}; got an empty list. Name one at least, or leave {key} out.")
    if key in ("datasets", "arms", "models"):
        for value in values:
            if not isinstance(value, str):
                raise OptionError(f"{key} holds {value!r}; expected names, as in {key}=[a,b].")
    for i, value in enumerate(values):
        if value in values[:i]:
            raise OptionError(f"{key} holds {value!r} twice; the same runs would count twice. Leave one out.")


def _check_define(define: Mapping[Any, Any]) -> None:
    from tdi_plugin.refine import refine_
    from tdi_plugin.sweep.arms import Arm, arms

    for name, settings in define.items():
        if name in arms():
            raise OptionError(
                f"define: {name!r} is an arm of the package; give yours another name, so that a table "
                "leaves no doubt which was run."
            )
        if not isinstance(name, str) or not isinstance(settings, Mapping):
            raise OptionError(
                f"define: {name!r} is {settings!r}; expected a name with settings, as in "
                "mine: {title: My arm, tdi: {temper: 0.5}}."
            )
        for key in ("tdi", "refine"):
            if not isinstance(settings.get(key), Mapping | None):
                raise OptionError(
                    f"Arm {name!r}: {key}={settings[key]!r}; expected options, or {{}} for the defaults."
                )
        if not isinstance(settings.get("title", ""), str):
            raise OptionError(f"Arm {name!r}: title={settings['title']!r}; expected text.")
        alpha = settings.get("alpha", 1.0)
        if isinstance(alpha, str) or number(f"Arm {name!r}: alpha", alpha) < 0:
            raise OptionError(
                f"Arm {name!r}: alpha={alpha!r}; expected a number, 0 or more (1e9 is written 1.0e+9)."
            )
        check_options(f"Arm {name!r}: refine", settings.get("refine") or {}, refine_)
        Arm.of(name, settings)


def _check_numbers(study: Study) -> None:
    for key in ("epochs", "batch_size", "stride"):
        if not _is_whole(value := getattr(study, key)) or value < 1:
            raise OptionError(f"{key}={value!r}; a whole number of at least 1 is needed.")
    if (most := study.max_test) is not None and (not _is_whole(most) or most < 1):
        raise OptionError(
            f"max_test={most!r}; expected a whole number of test series, or null for all of them."
        )
    for key in ("lr", "ssm_lr", "weight_decay"):
        if (value := getattr(study, key)) < 0:
            raise OptionError(f"{key}={value!r}; expected a number, 0 or more.")
    if study.clip is not None and study.clip <= 0:
        raise OptionError(f"clip={study.clip!r}; expected a gradient norm above 0, or null for no clipping.")
    goal = study.threshold
    if isinstance(goal, str) or not 0 <= number("threshold", goal) <= 1:
        raise OptionError(f"threshold={goal!r}; expected an accuracy in [0, 1].")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
