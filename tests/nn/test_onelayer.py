"""One state-space layer and a readout: collapsed and filtered forms are the same function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import toeplitz

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.nn import OneLayer


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("d_input", [1, 3])
@pytest.mark.parametrize("length", [1, 12, 31])
def test_readout_and_toeplitz_maps_are_one_matrix(real: bool, d_input: int, length: int) -> None:
    torch.manual_seed(0)
    model = OneLayer(d_input, 4, length, d_model=2, d_state=6, real=real).double()
    x = torch.randn(5, length, d_input, dtype=torch.float64)
    K = model.kernel(length)[0][0].detach().numpy()
    inputs = (x if model.encoder is None else model.encoder(x)).detach().numpy()
    y = np.stack(
        [inputs[..., min(h, inputs.shape[-1] - 1)] @ toeplitz(K[h], 0 * K[h]).T for h in range(2)], 1
    )
    np.testing.assert_allclose(model.filtered(x).detach().numpy(), y, atol=1e-12)
    weight, bias = (p.detach().numpy() for p in (model.decoder.weight, model.decoder.bias))
    np.testing.assert_allclose(model(x).detach().numpy(), y.reshape(5, -1) @ weight.T + bias, atol=1e-12)
    collapsed = np.einsum("cld,bld->bc", model.matrix().detach().numpy(), x.numpy()) + bias
    np.testing.assert_allclose(model(x).detach().numpy(), collapsed, atol=1e-12)


def test_power_readout_forgets_phase_and_keeps_power() -> None:
    torch.manual_seed(0)
    model = OneLayer(1, 2, 400, d_model=4, d_state=8, readout="power", dt_min=0.05).double()
    t = torch.arange(400, dtype=torch.float64)
    waves = torch.stack([torch.cos(0.5 * t + phase) for phase in (0.0, 1.0, 2.0)] + [torch.cos(1.5 * t)])
    logits = model(waves.unsqueeze(-1))
    assert (logits[:3] - logits[0]).abs().max() < 0.1 * (logits[3] - logits[0]).abs().max()
    louder = model(10 * waves.unsqueeze(-1)) - logits
    torch.testing.assert_close(louder, louder[:1].expand(4, -1), atol=1e-3, rtol=0)


def test_the_two_forms_start_as_one_function_and_have_equally_many_parameters() -> None:
    models = []
    for real in (False, True):
        torch.manual_seed(0)
        models.append(OneLayer(1, 3, 20, d_model=2, d_state=6, real=real))
    x = torch.randn(4, 20, 1)
    torch.testing.assert_close(models[0](x), models[1](x))
    counts = [sum(p.numel() for p in m.parameters()) for m in models]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("options", [{}, {"readout": "power"}, {"real": True}])
def test_learns(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    t = torch.arange(64.0)
    y = torch.arange(40) % 2
    phase = torch.rand(40, 1) * (6.28 if options.get("readout") == "power" else 0.3)
    x = torch.cos(torch.where(y == 0, 0.4, 1.1).unsqueeze(1) * t + phase).unsqueeze(-1)
    model = OneLayer(1, 2, 64, d_model=4, d_state=16, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (model(x).argmax(-1) == y).float().mean() == 1


def test_hosts_can_place_its_poles() -> None:
    from tdi_plugin.hosts import find_hosts

    for real in (False, True):
        model = OneLayer(1, 2, 50, d_state=8, real=real)
        (host,) = find_hosts(model)
        poles = host.poles.clone()
        poles.imag -= 1.0
        host.write(poles=poles)
        torch.testing.assert_close(host.poles, poles, atol=1e-5, rtol=1e-5)


def test_bad_input() -> None:
    with pytest.raises(OptionError, match="did you mean 'power'"):
        OneLayer(1, 2, 10, readout="powr")
    model = OneLayer(1, 2, 10)
    for x in (torch.zeros(3, 11, 1), torch.zeros(3, 10, 2), torch.zeros(3, 10, 1, dtype=torch.int64)):
        with pytest.raises(DataError, match=r"\(B, 10, 1\)"):
            model(x)
