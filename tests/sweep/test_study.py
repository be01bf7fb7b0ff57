from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tdi_plugin.errors import OptionError
from tdi_plugin.overrides import parse_overrides
from tdi_plugin.sweep.arms import Arm, arms
from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.study import STUDIES, Study


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_study_of_the_package_is_sound(path: Path) -> None:
    study = Study.load(path.stem)
    groups = list(study_groups(study))
    assert len(groups) == len(study.datasets) * len(study.ratios) * len(study.models)
    assert len({group.key("d", "loop") for group in groups}) == len(groups)


def test_overrides_are_yaml() -> None:
    assert parse_overrides(["ratios=[0.1,0.5]", "tdi.temper=0.5", "name=x", "clip=null"]) == {
        "ratios": [0.1, 0.5], "tdi": {"temper": 0.5}, "name": "x", "clip": None,
    }  # fmt: skip
    with pytest.raises(OptionError, match="key=value"):
        parse_overrides(["epochs"])
    with pytest.raises(OptionError, match="tdi=5 beside"):
        parse_overrides(["tdi=5", "tdi.temper=0.5"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arms": ["lin", "fischer"]}, "did you mean 'fisher'"),
        ({"models": ["deep-bach"]}, "did you mean 'deep-batch'"),
        ({"ratios": [0.0, 0.5]}, r"outside \(0, 1\]"),
        ({"ratios": [1.5]}, r"outside \(0, 1\]"),
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"epochs": 0}, "at least 1"),
        ({"base": "cross"}, "not among the arms"),
        ({"engine": "esemble"}, "did you mean 'ensemble'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"tdi": {"tempr": 1}}, "did you mean 'temper'"),
        ({"datasets": []}, "needs datasets"),
        (
            {"define": {"mine": {"tdi": {}, "labels": "suffled"}}, "arms": ["lin", "mine"]},
            "did you mean 'shuffled'",
        ),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Study.of({"name": "x", "datasets": ["GunPoint"], **settings})


def test_unknown_study_names_the_nearest() -> None:
    with pytest.raises(OptionError, match="did you mean 'smoke'"):
        Study.load("smok")


def test_a_new_arm_is_a_few_lines_of_yaml(tmp_path: Path) -> None:
    text = """
    datasets: [GunPoint]
    arms: [lin, gentle]
    define:
      gentle: {title: gentle TDI, tdi: {temper: 0.3, share: 0.25}}
    """
    (tmp_path / "mine.yaml").write_text(text)
    study = Study.load(str(tmp_path / "mine.yaml"))
    assert study.name == "mine"
    assert next(study_groups(study)).settings("d", "loop")["arms"]["gentle"]["tdi"]["temper"] == 0.3


def test_the_key_follows_what_matters_and_nothing_else(tiny: Callable[..., Study]) -> None:
    def key(**settings: Any) -> str:
        return next(study_groups(tiny(**settings))).key("data", "loop")

    same = key()
    assert key(name="other") == same
    assert key(datasets=["Tiny"]) == same
    for changed in (
        {"epochs": 3},
        {"lr": 0.02},
        {"seeds": 3},
        {"arms": ["lin", "cross"]},
        {"tdi": {"temper": 0.5}},
    ):
        assert key(**changed) != same
    assert next(study_groups(tiny())).key("other data", "loop") != same


def test_defaults_of_tdi_are_part_of_the_key() -> None:
    settings = Arm.of("a", {"tdi": {}}).settings()
    assert settings["tdi"]["allocation"] == "quantile"
    assert settings == Arm.of("a", {"tdi": {"allocation": "quantile"}, "title": "another title"}).settings()


def test_registry_has_all_arms_and_unique_titles() -> None:
    raw = yaml.safe_load((STUDIES.parent / "arms.yaml").read_text(encoding="utf-8"))
    assert set(raw) == set(arms())
    assert len({a.title for a in arms().values()}) == len(raw)
