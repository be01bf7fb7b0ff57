"""Data sets by name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tdi_plugin.data.task import SeriesTask
from tdi_plugin.errors import OptionError, choices

_HOME = {
    "tdi_ucr": ("ucr", "UCR"),
    "tdi_sc": ("speech", "SpeechCommands"),
    "tdi_mnist": ("mnist", "SequentialMNIST"),
    "tdi_freqcls": ("frequency", "FrequencyClassification"),
    "tdi_tone": ("tone", "ToneRegression"),
    "tdi_listops": ("listops", "ListOps"),
    "tdi_paths": ("paths", "PathConnectivity"),
}


class _Registry(Mapping[str, type[SeriesTask]]):
    """Name -> class; a class's module is imported when it is asked for."""

    def __getitem__(self, name: str) -> type[SeriesTask]:
        module, attribute = _HOME[name]
        return getattr(importlib.import_module(f"tdi_plugin.data.{module}"), attribute)

    def __iter__(self) -> Iterator[str]:
        return iter(_HOME)

    def __len__(self) -> int:
        return len(_HOME)


registry = _Registry()


def build(_name_: str, **options: Any) -> SeriesTask:
    """The data set of that name with its options; not yet read (``setup`` does that).

    Raises:
        OptionError: an unknown name or option, with the nearest one that exists.
    """
    if _name_ not in registry:
        raise OptionError(f"Unknown data set {_name_!r}: {choices(_name_, registry)}")
    cls = registry[_name_]
    parameters = inspect.signature(cls).parameters
    for option in options:
        if option not in parameters:
            raise OptionError(f"Data set {_name_!r} has no option {option!r}: {choices(option, parameters)}")
    for parameter in parameters.values():
        if parameter.default is parameter.empty and parameter.name not in options:
            raise OptionError(f"Data set {_name_!r} needs the option {parameter.name!r}; give it a value.")
    return cls(**options)
