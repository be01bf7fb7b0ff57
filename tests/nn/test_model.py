"""Backbone and classifier: names, norms, padding, and what bad options say."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.nn import ResidualBlock, SequenceClassifier, SequenceModel

LAYER = {"d_state": 8}


def test_blocks_have_s4s_parameter_names() -> None:
    names = [name for name, _ in SequenceModel(4, 1, norm="batch", layer=LAYER).named_parameters()]
    kernel = [f"layers.0.layer.layer.kernel.{n}" for n in ("inv_dt", "C", "B", "A_real", "A_imag")]
    assert names == [
        "layers.0.layer.layer.D",
        *kernel,
        "layers.0.layer.output_linear.0.weight",
        "layers.0.layer.output_linear.0.bias",
        "layers.0.norm.norm.weight",
        "layers.0.norm.norm.bias",
        "norm.norm.weight",
        "norm.norm.bias",
    ]


@pytest.mark.parametrize("prenorm", [True, False])
def test_where_the_norm_stands(prenorm: bool) -> None:
    torch.manual_seed(0)
    block = ResidualBlock(4, prenorm=prenorm, layer=LAYER)
    x = torch.randn(2, 9, 4)
    norm, layer = nn.LayerNorm(4), block.layer
    expected = x + layer(norm(x))[0] if prenorm else norm(x + layer(x)[0])
    torch.testing.assert_close(block(x)[0], expected)


def test_postnorm_models_end_without_a_further_norm() -> None:
    assert isinstance(SequenceModel(4, 1, prenorm=False, layer=LAYER).norm, nn.Identity)
    assert SequenceModel(4, 1, norm=None, layer=LAYER).norm is None


def test_batch_norm_is_over_batch_and_time() -> None:
    model = SequenceModel(4, 1, norm="batch", layer=LAYER)
    out = model(3 + 2 * torch.randn(5, 20, 4))[0]
    torch.testing.assert_close(out.mean((0, 1)), torch.zeros(4), atol=1e-5, rtol=0)
    torch.testing.assert_close(out.var((0, 1), correction=0), torch.ones(4), atol=1e-3, rtol=0)


def test_transposed_models_take_and_give_the_same_layout() -> None:
    models = []
    for transposed in (False, True):
        torch.manual_seed(0)
        models.append(SequenceModel(4, 2, norm="batch", transposed=transposed, layer=LAYER))
    x = torch.randn(3, 12, 4)
    torch.testing.assert_close(models[1](x)[0], models[0](x)[0])


@pytest.mark.parametrize("decoder", ["pool", "last"])
def test_padding_changes_nothing(decoder: str) -> None:
    torch.manual_seed(0)
    model = SequenceClassifier(2, 3, d_model=4, n_layers=2, decoder=decoder, layer=LAYER)
    short, lengths = torch.randn(1, 7, 2), torch.tensor([7, 15])
    padded = torch.randn(2, 15, 2)
    padded[0, :7] = short[0]
    torch.testing.assert_close(model(padded, lengths)[:1], model(short), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(model(padded, lengths)[1:], model(padded[1:]), atol=1e-6, rtol=1e-5)


def test_decoders_read_the_mean_or_the_last_step() -> None:
    for decoder, read in (("pool", lambda y: y.mean(1)), ("last", lambda y: y[:, -1])):
        model = SequenceClassifier(1, 3, d_model=4, n_layers=1, decoder=decoder, layer=LAYER)
        x = torch.randn(2, 9, 1)
        y, _ = model.model(model.encoder(x))
        torch.testing.assert_close(model(x), model.decoder.output_transform(read(y)))


def test_tokens_are_embedded() -> None:
    model = SequenceClassifier(11, 3, d_model=4, n_layers=1, encoder="embedding", layer=LAYER)
    tokens = torch.randint(11, (2, 9))
    assert model(tokens).shape == (2, 3)
    torch.testing.assert_close(model.encode(tokens), model.encoder.weight[tokens])


def test_tied_dropout_drops_whole_channels() -> None:
    model = SequenceModel(64, 1, dropinp=0.5, tie_dropout=True, layer=LAYER)
    dropped = model.drop(torch.ones(3, 10, 64))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert (dropped == dropped[:, :1]).all()
    model.eval()
    assert (model.drop(torch.ones(1, 2, 64)) == 1).all()


def test_the_backbone_traces_as_one_graph() -> None:
    torch.manual_seed(0)
    model = SequenceModel(4, 1, norm="batch", layer=LAYER)
    x = torch.randn(2, 31, 4)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    model.eval()
    torch.testing.assert_close(compiled(x)[0], model(x)[0])


def test_s4s_other_layer_keys_pass_at_their_neutral_values() -> None:
    layer: dict[str, Any] = {
        **LAYER, "_name_": "s4", "mode": "diag", "measure": None, "gate": None, "verbose": True, "rank": 1,
        "backend": "naive", "tie_dropout": None, "weight_norm": False, "transposed": True,
    }  # fmt: skip
    assert isinstance(SequenceModel(4, 1, layer=layer), nn.Module)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"norm": "bach"}, "norm='bach'.*did you mean 'batch'"),
        ({"residual": "H"}, "residual='H'"),
        ({"layer": {"mode": "nplr"}}, "mode='nplr'.*'diag'"),
        ({"layer": {"gate": 4}}, "gate=4"),
        ({"layer": {"d_stat": 4}}, "d_stat.*did you mean 'd_state'"),
        ({"layer": {"activation": "gel"}}, "did you mean 'gelu'"),
        ({"tie_dropout": True, "dropinp": 1.0}, "dropout=1.0"),
        ({"dropout": -0.1}, "dropout=-0.1"),
        ({"n_layers": 0}, "n_layers=0"),
    ],
)
def test_bad_model_options(model: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SequenceModel(4, **model)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(3, 9), r"\(3, 9\).*\(B, L, 2\) floats"),
        (torch.zeros(3, 9, 1), r"\(B, L, 2\) floats"),
        (torch.zeros(3, 9, 2, dtype=torch.int64), "int64"),
    ],
)
def test_series_that_do_not_fit(x: torch.Tensor, message: str) -> None:
    model = SequenceClassifier(2, 3, d_model=4, n_layers=1, layer=LAYER)
    with pytest.raises(DataError, match=message):
        model(x)


@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_mixed_precision_trains_as_full_precision_does(norm: str) -> None:
    torch.manual_seed(0)
    model = SequenceClassifier(1, 3, d_model=8, n_layers=2, norm=norm, layer=LAYER)
    x, y = torch.randn(6, 50, 1), torch.arange(6) % 3
    gradients = []
    for enabled in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            loss = nn.functional.cross_entropy(model(x), y)
        gradients.append(torch.autograd.grad(loss, list(model.parameters())))
    full, mixed = (torch.cat([g.float().flatten() for g in each]) for each in gradients)
    assert torch.nn.functional.cosine_similarity(full, mixed, dim=0) > 0.99


def test_bad_classifier_options() -> None:
    with pytest.raises(OptionError, match="did you mean 'linear'"):
        SequenceClassifier(1, 2, encoder="linea")
    with pytest.raises(OptionError, match="did you mean 'pool'"):
        SequenceClassifier(1, 2, d_model=4, n_layers=1, decoder="pol", layer=LAYER)
