"""One list of options, the same in the dataclass and in the Hydra group."""

from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from tdi_plugin import OptionError, TDIConfig, config_dir


def test_hydra_group_has_the_defaults_of_the_dataclass():
    group = OmegaConf.to_container(OmegaConf.load(config_dir() / "tdi" / "default.yaml"))
    assert group == TDIConfig().as_dict()


def test_unknown_option_names_the_nearest():
    with pytest.raises(OptionError, match=r"'alocation'.*did you mean 'allocation'"):
        TDIConfig.of(alocation="topk")


def test_unknown_statistic_names_the_nearest():
    with pytest.raises(OptionError, match=r"'fischer'.*did you mean 'fisher'"):
        TDIConfig.of(statistic="fischer")


OUTSIDE = [("share", 0.0), ("temper", 1.5), ("floor", -0.1), ("train_ratio", "a")]


@pytest.mark.parametrize(("name", "value"), OUTSIDE)
def test_out_of_range_echoes_the_value(name, value):
    with pytest.raises(OptionError, match=rf"{name}={value!r}"):
        TDIConfig.of(**{name: value})


def test_keywords_win_over_the_config_and_layers_become_a_tuple():
    config = TDIConfig.of(TDIConfig(statistic="cross"), layers=[0, 2])
    assert (config.statistic, config.layers) == ("cross", (0, 2))


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        ({"source": "encodr"}, "did you mean 'encoder'"),
        ({"allocation": "peak"}, "did you mean 'peaks'"),
        ({"share_over": "row"}, "did you mean 'rows'"),
        ({"tied": "equals"}, "did you mean 'equal'"),
        ({"damping": "hots"}, "'host', 'width' or a positive number"),
        ({"damping": -0.1}, "'host', 'width' or a positive number"),
        ({"damping": True}, "'host', 'width' or a positive number"),
    ],
)
def test_values_are_refused_before_any_series_is_read(options, nearest):
    with pytest.raises(OptionError, match=nearest):
        TDIConfig.of(**options)


KINDS = [
    ("enabled", "no"), ("fast_kernel", "x"), ("seed", "a"), ("seed", 1.5), ("subset_seed", -1),
    ("smoothing", 5),
    ("spectrum_file", 3), ("spacing", "a"), ("spacing", float("nan")), ("layers", None), ("layers", True),
    ("spacing", None), ("layers", ["a"]), ("layers", "[0]"), ("train_ratio", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), KINDS)
def test_value_of_another_kind_is_refused(name, value):
    with pytest.raises(OptionError, match=rf"{name}=.*expected"):
        TDIConfig.of(**{name: value})


def test_options_that_are_no_mapping_are_refused():
    with pytest.raises(OptionError, match="give a TDIConfig or a mapping"):
        TDIConfig.of("topk")
