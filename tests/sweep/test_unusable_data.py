from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.group_data import load_group_data
from tdi_plugin.sweep.protocol import group_data, run_group
from tdi_plugin.sweep.runner import run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

TOKENS = {"source": "generate", "n_train": 20, "n_val": 10, "n_test": 10, "min_length": 5, "max_length": 40}


@pytest.mark.parametrize(
    ("options", "message"),
    [({"missin": "interpolate"}, "did you mean 'missing'"), ({"name": "Small"}, "list that set in datasets")],
)
def test_options_that_a_set_does_not_have_are_named(
    tiny: Callable[..., Study], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        group_data(next(study_groups(tiny(data={"Tiny": options}))))


def test_an_option_may_be_a_list(tiny: Callable[..., Study]) -> None:
    settings = tiny(datasets=["tdi_freqcls"], data={"tdi_freqcls": {"band": [0.1, [0.2]]}})
    with pytest.raises(OptionError, match="no option 'band'"):
        group_data(next(study_groups(settings)))


def test_real_targets_are_refused() -> None:
    small = (("n_train", 4), ("n_val", 4), ("n_test", 4), ("length", 32), ("frequencies", (0.1,)))
    with pytest.raises(DataError, match="tdi_tone has real targets"):
        load_group_data("tdi_tone", options=small)


@pytest.mark.parametrize("model", ["one-power", "one-linear"])
def test_one_layer_models_refuse_tokens(tiny: Callable[..., Study], model: str) -> None:
    study = tiny(datasets=["tdi_listops"], models=[model], data={"tdi_listops": TOKENS})
    with pytest.raises(OptionError, match=f"{model} filters real series"):
        run_group(next(study_groups(study)))


def test_an_error_says_which_group_it_is_about(
    tiny: Callable[..., Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "UCRArchive_2018" / "Flat"
    folder.mkdir(parents=True)
    for part in ("TRAIN", "TEST"):
        (folder / f"Flat_{part}.tsv").write_text("1\t1\t1\t1\n2\t1\t1\t1\n" * 4)
    study = tiny(datasets=["Flat"])
    monkeypatch.setenv("DATA_PATH", str(tmp_path))
    with pytest.raises(DataError, match=r"Flat 25 % one-power: .*constant"):
        run_study(study, Store(tmp_path / "s"))


def test_data_that_change_meanwhile_are_not_stored_as_what_they_were(
    tiny: Callable[..., Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(group: Any, **options: Any) -> dict[str, Any]:
        return {"settings": group.settings("other data", "loop")}

    monkeypatch.setattr("tdi_plugin.sweep.runner.run_group", changed)
    with pytest.raises(DataError, match="Tiny 25 % one-power: the data changed"):
        run_study(tiny(datasets=["Tiny"]), Store(tmp_path))
    assert Store(tmp_path).groups() == {}
