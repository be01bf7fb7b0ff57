"""Spectra inside a model: the right tensors, one forward pass, and a model left as it was."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.spectrum import task_spectrum
from tdi_plugin.spectrum.source import spectra_at


class Layer(nn.Module):
    """Channels first, with all that a forward pass may change in a host."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.gain = nn.Parameter(torch.ones(()))
        self.register_buffer("seen_length", torch.tensor(0))
        self.cache: Any = None

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        self.seen_length = torch.tensor(x.shape[-1])
        self.cache = x
        self.gain.data.mul_(2.0)
        self.late = True
        return torch.tanh(self.mix(x)), None


class Model(nn.Module):
    def __init__(self, tokens: bool = False) -> None:
        super().__init__()
        self.encoder = nn.Embedding(6, 5) if tokens else nn.Linear(2, 5)
        self.norm = nn.BatchNorm1d(5)
        self.layers = nn.ModuleList(Layer(5) for _ in range(2))
        self.drop = nn.Dropout(0.5)
        self.decoder = nn.Linear(5, 3)
        self.forwards = 0
        self.decoded = 0

    def forward(self, x: Tensor) -> Tensor:
        self.forwards += 1
        x = self.drop(self.norm(self.encoder(x).transpose(1, 2)))
        random.random()
        np.random.random()
        torch.rand(1)
        for layer in self.layers:
            x, _ = layer(x)
        self.decoded += 1
        return self.decoder(x.mean(dim=-1))


@pytest.fixture
def model() -> Model:
    torch.manual_seed(0)
    return Model().train()


@pytest.fixture
def batches() -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(12, 30, 2, generator=generator), torch.arange(12) % 3) for _ in range(2)]


def by_hand(model: Model, batches: list[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    """The input of each layer (B, L, D), computed without hooks."""
    model.eval()
    with torch.no_grad():
        x = torch.cat([x for x, _ in batches])
        first = model.norm(model.encoder(x).transpose(1, 2))
        second = torch.tanh(model.layers[0].mix(first))
    return {"0": first.transpose(1, 2), "1": second.transpose(1, 2)}


def test_all_layers_in_one_pass_equal_each_by_hand(
    model: Model, batches: list[tuple[Tensor, Tensor]]
) -> None:
    calls = []
    modules = {"0": model.layers[0], "1": model.layers[1]}
    found = spectra_at(
        model, modules, batches, statistic="fisher", forward=lambda x: (calls.append(1), model(x))
    )
    assert len(calls) == 2
    y = torch.cat([y for _, y in batches])
    for name, series in by_hand(model, batches).items():
        expected = task_spectrum(series, y, "fisher")
        torch.testing.assert_close(found[name].power, expected.power, rtol=1e-4, atol=1e-6)
        assert found[name].channels is not None
        assert found[name].channels.shape == (5, 16)


def test_token_series_are_measured_after_the_encoder() -> None:
    torch.manual_seed(0)
    model = Model(tokens=True)
    tokens, y = torch.randint(0, 6, (20, 30)), torch.arange(20) % 2
    found = spectra_at(model, {"encoder": model.encoder}, [(tokens, y)], at="output", statistic="cross")
    expected = task_spectrum(model.encoder(tokens), y, "cross")
    torch.testing.assert_close(found["encoder"].power, expected.power)


def test_the_model_is_left_as_it_was(model: Model, batches: list[tuple[Tensor, Tensor]]) -> None:
    model.layers[1].eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    identities = {name: id(p) for name, p in model.named_parameters()}
    attributes = {name: set(module.__dict__) for name, module in model.named_modules()}
    training = [module.training for module in model.modules()]
    randoms = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()

    spectra_at(model, {"1": model.layers[1]}, batches, at="output", statistic="fisher")

    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name]), name
    assert {name: id(p) for name, p in model.named_parameters()} == identities
    assert {name: set(module.__dict__) for name, module in model.named_modules()} == attributes
    assert [module.training for module in model.modules()] == training
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert model.forwards == 0
    assert all(layer.cache is None and int(layer.seen_length) == 0 for layer in model.layers)
    assert random.getstate() == randoms[0]
    assert np.random.get_state()[1].tolist() == randoms[1]
    assert torch.equal(torch.get_rng_state(), randoms[2])


def test_the_model_is_left_as_it_was_after_an_error(model: Model) -> None:
    state = {name: value.clone() for name, value in model.state_dict().items()}
    bad = [(torch.full((4, 30, 2), torch.nan), torch.arange(4) % 2)]
    with pytest.raises(DataError, match="NaN"):
        spectra_at(model, {"1": model.layers[1]}, bad, statistic="cross")
    assert model.training
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())


def test_the_rest_of_the_forward_pass_is_spared(model: Model, batches: list[tuple[Tensor, Tensor]]) -> None:
    reached = []
    model.decoder.register_forward_pre_hook(lambda *_: reached.append(1))
    spectra_at(model, {"0": model.layers[0]}, batches, statistic="cross")
    assert not reached


def test_unequal_lengths_reach_the_layers(model: Model, batches: list[tuple[Tensor, Tensor]]) -> None:
    lengths = torch.tensor([30, 12] * 6)
    given = [(x, y, lengths) for x, y in batches]
    found = spectra_at(model, {"0": model.layers[0]}, given, statistic="fisher")["0"]
    y = torch.cat([y for _, y in batches])
    expected = task_spectrum(by_hand(model, batches)["0"], y, "fisher", lengths=torch.cat([lengths, lengths]))
    torch.testing.assert_close(found.power, expected.power, rtol=1e-4, atol=1e-6)


def test_what_cannot_be_captured_is_said(model: Model, batches: list[tuple[Tensor, Tensor]]) -> None:
    with pytest.raises(DataError, match="never called spare"):
        spectra_at(model, {"spare": nn.Linear(1, 1)}, batches, statistic="cross")
    with pytest.raises(DataError, match="real series"):
        spectra_at(model, {"model": model}, [(torch.zeros(2, 3, 4, 5), torch.arange(2))], statistic="cross")
    with pytest.raises(OptionError, match="at='inside'"):
        spectra_at(model, {}, batches, at="inside")
    with pytest.raises(OptionError, match="layout"):
        spectra_at(model, {}, batches, layout="sideways")


def test_a_square_tensor_needs_a_layout() -> None:
    model = nn.Sequential(nn.Identity())
    batch = [(torch.randn(8, 5, 5), torch.arange(8) % 2)]
    with pytest.raises(DataError, match="which axis is time"):
        spectra_at(model, {"it": model[0]}, batch, statistic="fisher")
    for layout, x in (("time first", batch[0][0]), ("channels first", batch[0][0].transpose(1, 2))):
        found = spectra_at(model, {"it": model[0]}, batch, layout=layout, statistic="fisher")["it"]
        torch.testing.assert_close(found.power, task_spectrum(x, batch[0][1], "fisher").power)
