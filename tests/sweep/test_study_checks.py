from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tdi_plugin.errors import OptionError
from tdi_plugin.sweep.study import Study

NAN = float("nan")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({key: value}, key) for key in ("lr", "ssm_lr", "weight_decay")
          for value in ("abc", None, -1, NAN, True)),
        *(({"clip": value}, "clip") for value in ("abc", -1, 0, NAN, [1])),
        *(({"threshold": value}, "threshold=") for value in ("abc", None, 5, NAN, True)),
        *(({"max_test": value}, "max_test=.*null for all") for value in (0, -3, "abc", 1.5, True)),
        *(({key: True}, f"{key}=True") for key in ("epochs", "batch_size", "stride")),
        *(({"seeds": value}, "seeds=") for value in (-1, 0, None, {"a": 1})),
        *(({"seeds": [value]}, "Seed ") for value in (-1, "x", 1.5, True, 10**30)),
        *(({"ratios": value}, "Training ratio") for value in ("abc", [NAN], True, ["nan"], [[0.5]])),
        *(({key: []}, f"needs {key}") for key in ("ratios", "seeds", "arms", "models", "datasets")),
        *(({key: None}, key) for key in ("ratios", "seeds", "arms", "models")),
        ({"datasets": ["A", "B", "A"]}, "datasets holds 'A' twice"),
        ({"ratios": [0.5, 1, 1.0]}, "ratios holds 1.0 twice"),
        ({"seeds": [0, 1, 0]}, "seeds holds 0 twice"),
        ({"arms": ["lin", "tdi", "tdi"]}, "arms holds 'tdi' twice"),
        ({"models": ["deep-layer", "deep-layer"]}, "twice"),
        *(({key: [value]}, f"{key} holds .*expected names") for key in ("datasets", "arms", "models")
          for value in (5, ["a"], None)),
        *(({key: value}, f"{key}=.*mapping") for key in ("data", "tdi", "define")
          for value in (5, "abc", ["a"])),
        *(({"data": {"A": value}}, "expected options") for value in (5, {1: 2})),
        *(({"name": value}, "files are named after it") for value in ("a/b", "../x", ".", ["a"], "a\nb")),
    ],
)  # fmt: skip
def test_settings_of_a_wrong_kind_or_out_of_range_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Study.of({"name": "x", "datasets": ["A"], **settings})


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (5, "expected a name with settings"),
        (None, "expected a name with settings"),
        ({"tdi": 5}, "tdi=5"),
        ({"tdi": {}, "refine": 5}, "refine=5"),
        ({"tdi": {}, "refine": {"step": 1}}, "did you mean 'steps'"),
        ({"title": 5}, "title=5"),
        ({"alpha": "1e9"}, r"1\.0e\+9"),
        ({"alpha": -1}, "alpha=-1"),
        ({"alpha": NAN}, "alpha=nan"),
    ],
)
def test_arms_of_a_study_are_checked_even_where_none_runs(arm: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Study.of(name="x", datasets=["A"], define={"mine": arm})


def test_an_arm_of_the_package_keeps_its_meaning() -> None:
    with pytest.raises(OptionError, match="'lin' is an arm of the package"):
        Study.of(name="x", datasets=["A"], define={"lin": {"init": "diag-inv"}})


def test_what_yaml_takes_for_another_kind_is_understood() -> None:
    study = Study.of(name=2024, datasets="A", ratios=["1e-1", 1], lr="1e-3", clip=None, seeds=2)
    assert (study.name, study.datasets, study.ratios) == ("2024", ("A",), (0.1, 1.0))
    assert (study.lr, study.clip, study.seeds) == (1e-3, None, (0, 1))


@pytest.mark.parametrize("text", ["[a", "- a", "abc", "\x00"])
def test_a_file_that_is_no_study_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(OptionError, match=r"mine\.yaml"):
        Study.load(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="cannot be read"):
        Study.load(str(path))


def test_an_option_of_the_command_is_added_to_those_of_the_study(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("datasets: [A]\ntdi: {statistic: combined, temper: 0.3}\n")
    assert Study.load(str(path), {"tdi": {"temper": 0.5}}).tdi == {"statistic": "combined", "temper": 0.5}
    assert Study.load(str(path), {"tdi": None}).tdi == {}
