"""Where a run's spectra are measured: input, encoder's output, or the input of each layer."""

from __future__ import annotations

import pytest
import pytorch_lightning as pl
import torch
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import tdi_plugin as tdi
from tdi_plugin.nn import SequenceClassifier

LENGTH = 64


class Module(pl.LightningModule):
    def __init__(self, encoder="linear"):
        super().__init__()
        torch.manual_seed(0)
        d_input = 11 if encoder == "embedding" else 1
        self.net = SequenceClassifier(d_input, 2, 8, 2, encoder=encoder, layer={"d_state": 8})
        self.encoder = self.net.encoder

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.0)


def data(tokens=False):
    generator = torch.Generator().manual_seed(1)
    y = torch.arange(24) % 2
    if tokens:
        return torch.randint(11, (24, LENGTH), generator=generator), y
    t = torch.arange(LENGTH)
    tone = torch.sin(2 * torch.pi * (0.1 + 0.2 * y[:, None]) * t)
    return (tone + 0.1 * torch.randn(24, LENGTH, generator=generator))[..., None], y


def fit(module, series, tmp_path, **options):
    callback = tdi.TaskDependentInit(**options)
    loader = DataLoader(TensorDataset(*series), batch_size=7, shuffle=True)
    pl.Trainer(
        max_steps=1, accelerator="cpu", logger=False, enable_checkpointing=False, callbacks=[callback],
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
    ).fit(module, loader)  # fmt: skip
    return callback


class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield from zip(*data(), strict=True)


@pytest.mark.filterwarnings("ignore:.*does not have many workers")
@pytest.mark.parametrize("source", ["input", "layer"])
@pytest.mark.parametrize("limit", [{"limit_train_batches": 3}, {"max_steps": 3}])
def test_of_a_stream_without_end_as_much_is_measured_as_trains(tmp_path, source, limit):
    callback = tdi.TaskDependentInit(statistic="combined", source=source)
    pl.Trainer(
        **limit, max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[callback],
        default_root_dir=tmp_path,
    ).fit(Module(), DataLoader(Endless(), batch_size=6))  # fmt: skip
    (spectrum,) = callback.spectra.values()
    assert spectrum.n_series == 18


def test_input_is_measured_as_task_spectrum_measures_it(tmp_path):
    x, y = data()
    callback = fit(Module(), (x, y), tmp_path, statistic="combined")
    (spectrum,) = callback.spectra.values()
    wanted = tdi.task_spectrum(x, y, statistic="combined")
    torch.testing.assert_close(spectrum.density, wanted.density, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("tokens", [False, True])
def test_encoder_output_is_what_the_encoder_gives(tmp_path, tokens):
    x, y = data(tokens)
    module = Module("embedding" if tokens else "linear")
    # Integer tokens choose the encoder by themselves.
    source = "auto" if tokens else "encoder"
    callback = fit(module, (x, y), tmp_path, statistic="cross", source=source)
    (spectrum,) = callback.spectra.values()
    with torch.no_grad():
        wanted = tdi.task_spectrum(module.net.encode(x), y, statistic="cross")
    torch.testing.assert_close(spectrum.density, wanted.density, rtol=1e-4, atol=1e-7)


def test_each_layer_has_the_spectrum_of_its_own_input(tmp_path):
    x, y = data()
    module = Module()
    inputs = []
    for block in module.net.model.layers:
        block.layer.layer.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    with torch.no_grad():
        module(x)
    wanted = [tdi.task_spectrum(series, y, statistic="cross") for series in inputs]
    module = Module()
    before = {k: v.clone() for k, v in module.state_dict().items()}
    callback = fit(module, (x, y), tmp_path, statistic="cross", source="layer", layers="all")
    assert len(callback.spectra) == 2
    for found, expected in zip(callback.spectra.values(), wanted, strict=True):
        torch.testing.assert_close(found.density, expected.density, rtol=1e-4, atol=1e-7)
    changed = {k for k, v in module.state_dict().items() if not torch.equal(v, before[k])}
    assert all("A_" in name for name in changed)
    assert changed


def test_many_series_are_measured_in_part_inside_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr("tdi_plugin.run_spectrum.MOST_THROUGH_MODEL", 10)
    spectra = {
        source: next(iter(fit(Module(), data(), tmp_path, statistic="cross", source=source).spectra.values()))
        for source in ("input", "encoder", "layer")
    }
    assert {source: s.n_series for source, s in spectra.items()} == {"input": 24, "encoder": 10, "layer": 10}


def test_saved_spectrum_is_used_instead(tmp_path):
    saved = tdi.task_spectrum(*data(), statistic="fisher").save(tmp_path / "saved")
    callback = fit(Module(), data(), tmp_path, spectrum_file=str(saved))
    assert next(iter(callback.spectra.values())).statistic == "fisher"


def test_tokens_have_no_spectrum_of_their_own(tmp_path):
    with pytest.raises(tdi.DataError, match=r"tokens.*tdi\.source=encoder"):
        fit(Module("embedding"), data(tokens=True), tmp_path, source="input")


def test_unknown_source_names_the_nearest(tmp_path):
    with pytest.raises(tdi.OptionError, match="did you mean 'encoder'"):
        fit(Module(), data(), tmp_path, source="encodr")


def test_a_relative_file_is_meant_from_where_the_command_was_given(tmp_path, monkeypatch):
    saved = tdi.task_spectrum(*data(), statistic="cross").save(tmp_path / "mine")
    (job := tmp_path / "outputs").mkdir()
    monkeypatch.chdir(job)
    config = OmegaConf.create({"hydra": {"runtime": {"cwd": str(tmp_path)}}})
    monkeypatch.setattr(HydraConfig.instance(), "cfg", config)
    callback = fit(Module(), data(), tmp_path, spectrum_file=saved.name)
    assert {s.statistic for s in callback.spectra.values()} == {"cross"}


@pytest.mark.parametrize("kind", [torch.long, torch.bool])
def test_one_hot_labels_are_classes(tmp_path, kind):
    x, y = data()
    module = Module()
    module.training_step = lambda batch, batch_idx: module(batch[0]).sum()
    callback = fit(module, (x, torch.eye(2)[y].to(kind)), tmp_path)
    (spectrum,) = callback.spectra.values()
    (wanted,) = fit(Module(), (x, y), tmp_path).spectra.values()
    assert spectrum.statistic == wanted.statistic != "power"
    torch.testing.assert_close(spectrum.power, wanted.power)
