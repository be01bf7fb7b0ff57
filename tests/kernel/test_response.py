"""Responses against a recurrence run sample by sample, and of the hosts themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal
import torch

from tdi_plugin.errors import DataError, HostError, OptionError
from tdi_plugin.hosts import find_hosts
from tdi_plugin.kernel import frequency_response, impulse_response
from tdi_plugin.nn import S4DKernel

L = 40


def poles(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    A = torch.complex(-0.1 - torch.rand(2, 3, generator=g), -6 * torch.rand(2, 3, generator=g)).to(
        torch.complex128
    )
    dt = 0.05 + 0.3 * torch.rand(4, 1, generator=g, dtype=torch.float64)
    return A, dt, torch.randn(1, 4, 3, generator=g, dtype=torch.complex128)


@pytest.mark.parametrize("disc", ["zoh", "bilinear"])
def test_poles_agree_with_scipy_discretisation_run_step_by_step(disc: str) -> None:
    A, dt, C = poles()
    h = impulse_response(A, L, dt=dt, output=C, disc=disc)
    assert h.shape == (1, 4, L)
    assert h.dtype == torch.float64
    for channel in range(4):
        a = A[channel % 2].numpy()
        system = (np.diag(a), np.ones((3, 1)), C[0, channel].numpy()[None], np.zeros((1, 1)))
        Ad, Bd, _, _, _ = scipy.signal.cont2discrete(system, float(dt[channel]), method=disc)
        if (
            disc == "bilinear"
        ):  # scipy folds part of the rule into C and D; S4 keeps C and B = dt / (1 - dt A / 2)
            Bd = (
                float(dt[channel])
                * np.linalg.inv(np.eye(3) - float(dt[channel]) / 2 * np.diag(a))
                @ np.ones((3, 1))
            )
        state, expected = Bd, []
        for _ in range(L):
            expected.append(2 * (C[0, channel].numpy()[None] @ state).real.item())
            state = Ad @ state
        np.testing.assert_allclose(h[0, channel].numpy(), expected, rtol=1e-10, atol=1e-12)


def test_discrete_poles_and_cut_kernels() -> None:
    z = torch.tensor([0.5 + 0.3j, 0.2 - 0.7j], dtype=torch.complex128)
    h = impulse_response(z, L)
    steps = torch.arange(L)
    torch.testing.assert_close(h, 2 * (z[:, None] ** steps).sum(0).real, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(impulse_response(h, 10), h[:10], rtol=0, atol=0)
    real_poles = impulse_response(torch.tensor([-1.0]), L, dt=0.5)
    torch.testing.assert_close(real_poles, 2 * (1 - np.exp(-0.5)) * torch.exp(-0.5 * steps.double()))


def test_frequency_response_is_the_transfer_function_of_a_decayed_system() -> None:
    z, C, length = torch.tensor([0.6 + 0.5j]), torch.tensor([1.5 - 0.5j]), 400
    H = frequency_response(z, length, output=C)
    w = torch.exp(-2j * torch.pi * torch.arange(length // 2 + 1, dtype=torch.float64) / length)
    expected = C / (1 - z * w) + C.conj() / (1 - z.conj() * w)
    torch.testing.assert_close(H, expected.to(torch.complex128), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"disc": "bilinear"}, {"n_ssm": 2}, {"channels": 2}, {"dt_tie": False}]
)
def test_a_host_and_its_own_poles_have_one_response(options: dict[str, object]) -> None:
    torch.manual_seed(0)
    kernel = S4DKernel(4, 8, **options)  # type: ignore[arg-type]
    host = find_hosts(kernel)[0]
    of_host = impulse_response(host, L)
    of_poles = impulse_response(host.poles, L, dt=host.dt, output=host.output, disc=host.disc)
    assert of_host.shape == (options.get("channels", 1), 4, L)
    torch.testing.assert_close(of_poles, of_host, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(impulse_response(kernel, L), of_host, rtol=0, atol=0)


def test_aggregates() -> None:
    A, dt, C = poles()
    each = frequency_response(A, L, dt=dt, output=C)
    total = frequency_response(A, L, dt=dt, output=C, aggregate="sum")
    power = frequency_response(A, L, dt=dt, output=C, aggregate="power")
    torch.testing.assert_close(total, each.sum((0, 1)))
    torch.testing.assert_close(power, each.abs().square().mean((0, 1)))
    assert impulse_response(A, L, dt=dt, output=C, aggregate="sum").shape == (L,)


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (torch.tensor([0.1 - 1j]), {"dt": 0.1}, "Re A < 0"),
        (torch.tensor([complex("nan")]), {"dt": 0.1}, "unstable"),
        (torch.tensor([1.0 + 0j]), {}, r"\|z\| < 1"),
        (torch.tensor([-0.5 - 1j]), {"dt": -0.1}, "step sizes above 0"),
        (torch.tensor([-0.5 - 1j]), {"dt": 0.1, "output": torch.ones(2)}, "do not fit"),
        (torch.tensor([-0.5 - 1j]), {"dt": 0.1, "output": torch.tensor([torch.inf])}, "finite"),
        (torch.ones(L - 1), {}, "at least 40 samples"),
        (torch.full((L,), torch.nan), {}, "40 NaN or infinite values among 40"),
    ],
)
def test_bad_poles_and_kernels(source: torch.Tensor, options: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        impulse_response(source, L, **options)  # type: ignore[arg-type]


def test_bad_length_options_and_hosts() -> None:
    with pytest.raises(DataError, match="length=1"):
        impulse_response(torch.ones(4), 1)
    with pytest.raises(OptionError, match="did you mean 'bilinear'"):
        impulse_response(torch.tensor([-0.5 - 1j]), L, dt=0.1, disc="bilinar")
    with pytest.raises(OptionError, match="did you mean 'power'"):
        frequency_response(torch.ones(L), L, aggregate="powr")
    kernel = S4DKernel(2, 4)
    with pytest.raises(HostError, match="2 state-space layers"):
        impulse_response(torch.nn.ModuleList([kernel, S4DKernel(2, 4)]), L)
    with torch.no_grad():
        kernel.C.fill_(torch.nan)
    with pytest.raises(HostError, match="NaN or infinite"):
        impulse_response(kernel, L)
