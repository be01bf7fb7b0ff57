"""The callback acts once a module, and only where it had something to do."""

from __future__ import annotations

import pytest
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

import tdi_plugin as tdi
from tdi_plugin.nn import SequenceClassifier


class Module(pl.LightningModule):
    def __init__(self, init: str = "diag-lin") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = SequenceClassifier(1, 2, 4, 1, layer={"d_state": 4, "init": init})

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.0)


def fit(module, tmp_path, *callbacks, nan=False, noise=False):
    y = torch.arange(12) % 2
    x = torch.sin((0.3 + y[:, None]) * torch.arange(32))[..., None]
    series = x * float("nan") if nan else x
    if noise:
        series = torch.randn(x.shape, generator=torch.Generator().manual_seed(3))
    pl.Trainer(
        max_steps=1, accelerator="cpu", logger=False, enable_checkpointing=False, callbacks=list(callbacks),
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
    ).fit(module, DataLoader(TensorDataset(series, y), batch_size=12))  # fmt: skip


def test_a_run_that_failed_can_be_tried_again(tmp_path):
    module, callback = Module(), tdi.TaskDependentInit(statistic="combined")
    with pytest.raises(tdi.DataError):
        fit(module, tmp_path, callback, nan=True)
    fit(module, tmp_path, callback)
    assert callback.outcome == "poles placed"


def test_labels_that_say_nothing_leave_the_poles_and_say_so(tmp_path):
    module, callback = Module("tdi"), tdi.TaskDependentInit()
    fit(module, tmp_path, callback, noise=True)
    assert callback.outcome == "own poles kept"
    assert "no label information found" in callback.record()["layers"][0]["notes"][0]
    plain = Module("diag-lin").state_dict()
    poles = [name for name in plain if name.endswith(("A_real", "A_imag", "inv_dt"))]
    assert poles
    assert all(torch.equal(module.state_dict()[name], plain[name]) for name in poles)


def test_a_second_fit_keeps_the_poles_of_the_first(tmp_path):
    module, again = Module(), tdi.TaskDependentInit(statistic="power", allocation="topk")
    fit(module, tmp_path, tdi.TaskDependentInit(statistic="combined"))
    before = {k: v.clone() for k, v in module.state_dict().items()}
    fit(module, tmp_path, again)
    assert again.outcome == "not run"
    assert all(torch.equal(v, before[k]) for k, v in module.state_dict().items())


@pytest.mark.parametrize(
    ("init", "outcomes"), [("diag-lin", ["off", "placed"]), ("tdi", ["placed", "not run"])]
)
def test_a_callback_that_finds_nothing_leaves_the_module_to_the_next(tmp_path, init, outcomes):
    named, plain = tdi.TaskDependentInit(named_only=True), tdi.TaskDependentInit(statistic="combined")
    fit(Module(init), tmp_path, named, plain)
    for callback, word in zip((named, plain), outcomes, strict=True):
        assert word in callback.outcome


def test_a_callback_that_was_told_not_to_act_stops_the_next(tmp_path):
    off, on = tdi.TaskDependentInit(enabled=False), tdi.TaskDependentInit(statistic="combined")
    fit(Module(), tmp_path, off, on)
    assert (off.outcome, on.outcome) == ("skipped: tdi.enabled is false", "not run")


@pytest.mark.parametrize("own", [{"train": 5}, {"train": "x.csv"}, {"loader": True}, {"model": "big"}])
def test_hyperparameters_of_the_module_itself_are_no_config_of_ours(tmp_path, own):
    module, callback = Module(), tdi.TaskDependentInit(statistic="combined")
    module.save_hyperparameters(own)
    fit(module, tmp_path, callback)
    assert callback.outcome == "poles placed"


def test_tdi_options_that_are_no_mapping_are_refused(tmp_path):
    module = Module()
    module.save_hyperparameters({"tdi": "topk"})
    with pytest.raises(tdi.OptionError, match="tdi is 'topk'"):
        fit(module, tmp_path, tdi.TaskDependentInit())


class ConvKernel(torch.nn.Module):
    """Stands in for s4's, which takes ``init`` and forgets it."""


def test_a_kernel_that_forgot_init_tdi_is_told(tmp_path):
    module, callback = Module(), tdi.TaskDependentInit(named_only=True)
    module.net = torch.nn.Sequential(ConvKernel())
    module.save_hyperparameters({"model": {"layer": {"init": "tdi", "mode": "conv"}}})
    with pytest.raises(tdi.HostError, match="ConvKernel: its kernel is free"):
        fit(module, tmp_path, callback)


def test_a_kernel_that_does_not_keep_its_init_is_told(tmp_path):
    module, callback = Module(), tdi.TaskDependentInit(named_only=True)
    for part in module.modules():
        vars(part).pop("init", None)
    module.save_hyperparameters({"model": {"layer": {"init": "tdi"}}})
    with pytest.raises(tdi.HostError, match="does not keep its init in the attribute 'init'"):
        fit(module, tmp_path, callback)
