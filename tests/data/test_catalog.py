from __future__ import annotations

import inspect

import pytest

from tdi_plugin import data
from tdi_plugin.data.task import SeriesTask


def test_every_name_has_a_class_of_that_name():
    assert set(data.registry) == {
        "tdi_ucr",
        "tdi_sc",
        "tdi_mnist",
        "tdi_freqcls",
        "tdi_tone",
        "tdi_listops",
        "tdi_paths",
    }
    for name, cls in data.registry.items():
        assert issubclass(cls, SeriesTask)
        assert cls._name_ == name
        assert getattr(data, cls.__name__) is cls
        assert "Args:" in inspect.getdoc(cls)
        documented = inspect.getdoc(cls)
        assert all(parameter in documented for parameter in inspect.signature(cls).parameters)


def test_public_names_exist():
    for name in data.__all__:
        assert getattr(data, name) is not None
    with pytest.raises(AttributeError):
        data.no_such_name  # noqa: B018


def test_importing_is_light(run_python):
    names = "d.UCR, d.ListOps, d.SpeechCommands, d.load_series"
    code = f"import sys, tdi_plugin.data as d; {names}; print(*sys.modules)"
    loaded = set(run_python("-c", code).stdout.split())
    heavy = {
        "aeon",
        "soundfile",
        "sklearn",
        "pandas",
        "pytorch_lightning",
        "hydra",
        "platformdirs",
        "datasets",
    }
    assert "tdi_plugin.data.load" in loaded
    assert not loaded & heavy
