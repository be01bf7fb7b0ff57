"""Settings as YAML and command lines give them, brought to the kinds that a study holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tdi_plugin.errors import OptionError

LISTS = ("datasets", "ratios", "seeds", "arms", "models")
MAPPINGS = ("data", "tdi", "define")
NUMBERS = ("lr", "ssm_lr", "weight_decay", "clip")


def to_kinds(given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as tuples, numbers as floats, mappings as dicts; what else is given stays.

    Raises:
        OptionError: a value of another kind.
    """
    found = dict(given)
    if isinstance(found.get("name"), int):  # YAML reads 2024 as a number
        found["name"] = str(found["name"])
    for key in LISTS:
        if key in found:
            found[key] = _sequence(key, found[key])
    for key in MAPPINGS:
        if not isinstance(value := found.get(key) or {}, Mapping):
            raise OptionError(f"{key}={value!r}: expected a mapping, as in {key}: {{name: value}}.")
        found[key] = dict(value)
    for key in NUMBERS:
        if key in found and not (key == "clip" and found[key] is None):
            found[key] = number(key, found[key])
    return found


def number(key: str, value: Any) -> float:
    """A finite number, also from text (YAML takes 1e-3 for text).

    Raises:
        OptionError: anything else.
    """
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise OptionError(f"{key}={value!r}: expected a finite number.")
    return found


def read_settings(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        OptionError: a file that cannot be read, or that holds something else.
    """
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise OptionError(
            f"{path} cannot be read as YAML ({error}); expected lines like `epochs: 40`."
        ) from error
    if not isinstance(settings, dict):
        raise OptionError(
            f"{path} holds a {type(settings).__name__}; expected settings of a study, like "
            "`datasets: [GunPoint]`."
        )
    return settings


def _sequence(key: str, value: Any) -> tuple[Any, ...]:
    if key == "seeds" and isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise OptionError(f"seeds={value}; expected a number of seeds, at least 1, or a list of them.")
        return tuple(range(value))
    values = (value,) if isinstance(value, (str, int, float)) else value
    if not isinstance(values, (list, tuple)):
        raise OptionError(f"{key}={value!r}: expected a list, as in {key}=[a,b].")
    if key == "ratios":
        return tuple(_ratio(v) for v in values)
    return tuple(values)


def _ratio(value: Any) -> float:
    try:
        return number("ratios", value)
    except OptionError:
        raise OptionError(
            f"Training ratio {value!r} is no number in (0, 1]; give a part of the training set."
        ) from None
