"""Convolution, stepping and state forwarding are three ways to run one system."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tdi_plugin.errors import OptionError
from tdi_plugin.nn import FFTConv, SequenceModel

FORMS: list[dict[str, Any]] = [
    {},
    {"disc": "bilinear", "n_ssm": 1},
    {"channels": 2, "dt_tie": False, "init": "diag-legs"},
]


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("length", [1, 2, 37, 64])
def test_layer(options: dict[str, Any], length: int) -> None:
    torch.manual_seed(0)
    layer = FFTConv(4, d_state=8, transposed=False, **options)
    u = torch.randn(3, length, 4)
    whole, _ = layer(u)
    state = layer.kernel.default_state(3)
    steps = []
    for t in range(length):
        y, state = layer.step(u[:, t], state)
        steps.append(y)
    torch.testing.assert_close(torch.stack(steps, 1), whole, atol=1e-5, rtol=0)
    forwarded = layer.kernel.forward_state(u.transpose(1, 2), layer.kernel.default_state(3))
    torch.testing.assert_close(torch.view_as_real(forwarded), torch.view_as_real(state), atol=1e-5, rtol=0)


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("cut", [1, 20, 63])
def test_a_sequence_in_two_parts_is_the_sequence(options: dict[str, Any], cut: int) -> None:
    torch.manual_seed(0)
    layer = FFTConv(4, d_state=8, transposed=False, **options)
    u = torch.randn(3, 64, 4)
    first, state = layer(u[:, :cut], state=layer.kernel.default_state(3))
    second, last = layer(u[:, cut:], state=state)
    torch.testing.assert_close(torch.cat((first, second), 1), layer(u)[0], atol=1e-5, rtol=0)
    whole_state = layer(u, state=layer.kernel.default_state(3))[1]
    torch.testing.assert_close(torch.view_as_real(last), torch.view_as_real(whole_state), atol=1e-5, rtol=0)


@pytest.mark.parametrize("prenorm", [True, False])
@pytest.mark.parametrize("norm", ["layer", "batch"])
@pytest.mark.parametrize("transposed", [True, False])
def test_model(prenorm: bool, norm: str, transposed: bool) -> None:
    torch.manual_seed(0)
    model = SequenceModel(
        6, 2, prenorm=prenorm, norm=norm, transposed=transposed, layer={"d_state": 8, "channels": 2}
    )
    x = torch.randn(2, 30, 6)
    model(x)  # batch norm: something in the running statistics
    model.eval()
    whole, _ = model(x)
    state, steps = model.default_state(2), []
    for t in range(30):
        y, state = model.step(x[:, t], state)
        steps.append(y)
    torch.testing.assert_close(torch.stack(steps, 1), whole, atol=1e-5, rtol=0)
    first, between = model(x[:, :11], state=model.default_state(2))
    second, last = model(x[:, 11:], state=between)
    torch.testing.assert_close(torch.cat((first, second), 1), whole, atol=1e-5, rtol=0)
    for forwarded, stepped in zip(last, state, strict=True):
        torch.testing.assert_close(
            torch.view_as_real(forwarded), torch.view_as_real(stepped), atol=1e-5, rtol=0
        )


def test_a_layer_that_reads_the_future_has_no_steps() -> None:
    layer = FFTConv(4, d_state=8, bidirectional=True, transposed=False)
    state = layer.kernel.default_state(3)
    with pytest.raises(OptionError, match="bidirectional=True"):
        layer.step(torch.ones(3, 4), state)
    with pytest.raises(OptionError, match="bidirectional=True"):
        layer(torch.ones(3, 9, 4), state=state)


def test_long_sequences_differ_by_the_rounding_of_single_precision_alone() -> None:
    torch.manual_seed(0)
    layer = FFTConv(4, d_state=8, transposed=False).double()
    u = torch.randn(2, 1009, 4, dtype=torch.float64)
    state, steps = layer.kernel.default_state(2), []
    for t in range(1009):
        y, state = layer.step(u[:, t], state)
        steps.append(y)
    torch.testing.assert_close(torch.stack(steps, 1), layer(u)[0], atol=1e-10, rtol=0)
