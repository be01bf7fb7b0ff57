"""Readers, generators and training subsets. Names load on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdi_plugin.data.catalog import build as build
    from tdi_plugin.data.catalog import registry as registry
    from tdi_plugin.data.frequency import FrequencyClassification as FrequencyClassification
    from tdi_plugin.data.listops import ListOps as ListOps
    from tdi_plugin.data.load import load_series as load_series
    from tdi_plugin.data.mnist import SequentialMNIST as SequentialMNIST
    from tdi_plugin.data.paths import PathConnectivity as PathConnectivity
    from tdi_plugin.data.series import Series as Series
    from tdi_plugin.data.series import SeriesDataset as SeriesDataset
    from tdi_plugin.data.series import collate as collate
    from tdi_plugin.data.speech import SpeechCommands as SpeechCommands
    from tdi_plugin.data.subset import nested_subset as nested_subset
    from tdi_plugin.data.subset import subset_dataset as subset_dataset
    from tdi_plugin.data.task import SeriesTask as SeriesTask
    from tdi_plugin.data.tone import ToneRegression as ToneRegression
    from tdi_plugin.data.ucr import UCR as UCR

_HOME = {
    "UCR": "ucr",
    "FrequencyClassification": "frequency",
    "ListOps": "listops",
    "PathConnectivity": "paths",
    "SequentialMNIST": "mnist",
    "SpeechCommands": "speech",
    "ToneRegression": "tone",
    "load_series": "load",
    "Series": "series",
    "SeriesDataset": "series",
    "SeriesTask": "task",
    "build": "catalog",
    "collate": "series",
    "nested_subset": "subset",
    "registry": "catalog",
    "subset_dataset": "subset",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
