from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tdi_plugin.errors import OptionError
from tdi_plugin.sweep.arms import Arm, arm
from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.members import member
from tdi_plugin.sweep.models import builder
from tdi_plugin.sweep.protocol import group_data
from tdi_plugin.sweep.study import Study


@pytest.mark.parametrize("option", ["enabled", "seed", "source", "train_ratio", "spectrum_file"])
def test_options_that_are_the_studys_own_affair_are_refused(option: str) -> None:
    with pytest.raises(OptionError, match=rf"tdi\.{option} is not an arm's to set"):
        Arm.of("mine", {"tdi": {option: 1}})
    with pytest.raises(OptionError, match=rf"tdi\.{option} is not an arm's to set"):
        Study.of(name="x", datasets=["GunPoint"], tdi={option: 1})


def test_refinement_writes_poles_steps_and_outputs_of_the_first_layer_alone(
    tiny: Callable[..., Study],
) -> None:
    data = group_data(next(study_groups(tiny())))
    build, train = builder("deep-layer", data, 1e-3), data.run(1.0, 0).train
    plain, refined = (
        member(build, arm(name), train, 0, {"statistic": "fisher"})[0].state_dict()
        for name in ("lin", "refined")
    )
    changed = {name for name, value in plain.items() if not torch.equal(value, refined[name])}
    kernel = "model.layers.0.layer.layer.kernel."
    assert changed == {kernel + name for name in ("A_real", "A_imag", "inv_dt", "C")}
