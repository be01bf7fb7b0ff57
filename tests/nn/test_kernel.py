"""The S4D kernel: parameters by s4's names and forms, impulse responses against SciPy's discretisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import cont2discrete

from tdi_plugin.errors import OptionError
from tdi_plugin.nn import RealS4DKernel, S4DKernel
from tdi_plugin.nn.initial import initial_poles
from tdi_plugin.nn.transforms import TRANSFORMS, from_parameter, to_parameter


def make(seed: int = 0, **options: Any) -> S4DKernel:
    torch.manual_seed(seed)
    return S4DKernel(**{"d_model": 4, "d_state": 8, **options})


def scipy_impulse(kernel: S4DKernel, length: int) -> np.ndarray:
    """(channels, H, length): every pole and its conjugate, discretised by SciPy, read out after each step."""
    dt, A, B, C = (t.detach().numpy() for t in kernel._get_params())
    out = np.zeros((C.shape[0], A.shape[0], length))
    steps = np.broadcast_to(dt, A.shape)
    for h, n in np.ndindex(A.shape):
        for a, b, o in (
            (A[h, n], B[0, h, n], C[:, h, n]),
            *((t.conj() for t in (A[h, n], B[0, h, n], C[:, h, n])),),
        ):
            system = tuple(np.array([[v]]) for v in (a, b, 1.0, 0.0))
            ad, bd, *_ = cont2discrete(system, float(steps[h, n]), kernel.disc)
            out[:, h] += (o[:, None] * bd[0, 0] * ad[0, 0] ** np.arange(length)).real
    return out


@settings(deadline=None, max_examples=25)
@given(
    d_model=st.sampled_from([1, 2, 4]),
    tied=st.booleans(),
    channels=st.sampled_from([1, 2]),
    disc=st.sampled_from(["zoh", "bilinear"]),
    init=st.sampled_from(["diag-lin", "diag-inv", "diag-legs", "tdi"]),
    dt_tie=st.booleans(),
    dt_transform=st.sampled_from(["exp", "softplus"]),
    real_transform=st.sampled_from(["exp", "relu", "none", "sigmoid"]),
    length=st.integers(1, 70),
    seed=st.integers(0, 99),
)
def test_impulse_response(d_model: int, tied: bool, length: int, seed: int, **options: Any) -> None:
    kernel = make(seed, d_model=d_model, n_ssm=1 if tied else None, d_state=6, **options).double()
    K, state = kernel(length)
    assert state is None
    np.testing.assert_allclose(K.detach().numpy(), scipy_impulse(kernel, length), atol=1e-9, rtol=1e-7)


@settings(deadline=None)
@given(
    real=st.floats(-80, 80),
    imag=st.floats(-1e6, 1e6),
    inv_dt=st.floats(-20, 20),
    real_transform=st.sampled_from(["exp", "relu", "softplus", "sigmoid"]),
    dt_transform=st.sampled_from(["exp", "softplus"]),
    form=st.sampled_from([S4DKernel, RealS4DKernel]),
    disc=st.sampled_from(["zoh", "bilinear"]),
)
def test_every_parameter_value_gives_a_stable_layer(
    real: float, imag: float, inv_dt: float, real_transform: str, dt_transform: str, form: Any, disc: str
) -> None:
    """Re(dt A) < 0, so |exp(dt A)| < 1 (and the bilinear map takes this half-plane into the unit circle)."""
    kernel = form(1, d_state=2, real_transform=real_transform, dt_transform=dt_transform, disc=disc)
    with torch.no_grad():
        for name, value in (("A_real", real), ("A_imag", imag), ("inv_dt", inv_dt)):
            getattr(kernel, name).fill_(value)
        dt, A, _, _ = kernel._get_params()
    assert (dt * A).real.item() < 0
    assert torch.exp(dt.double() * A.to(torch.complex128)).abs().item() <= 1.0
    assert -math.expm1(float(dt) * A.real.item()) > 0, "1 - |exp(dt A)|, without its cancellation"


def test_parameters_have_s4s_names_shapes_and_options() -> None:
    kernel = make(n_ssm=2, channels=3, lr={"dt": 0.001, "A": 0.002, "B": 0.003})
    found = {name: (tuple(p.shape), p._optim) for name, p in kernel.named_parameters()}
    assert found == {
        "inv_dt": ((4, 1), {"lr": 0.001, "weight_decay": 0.0}),
        "C": ((3, 4, 4, 2), {}),
        "B": ((1, 2, 4, 2), {"lr": 0.003, "weight_decay": 0.0}),
        "A_real": ((2, 4), {"lr": 0.002, "weight_decay": 0.0}),
        "A_imag": ((2, 4), {"lr": 0.002, "weight_decay": 0.0}),
    }
    assert all(p.dtype == torch.float32 for p in kernel.parameters())


def test_a_zero_learning_rate_makes_buffers() -> None:
    kernel = make(lr={"dt": 0.0, "A": 0.0, "B": 1e-3})
    assert [n for n, _ in kernel.named_parameters()] == ["C", "B"]
    assert {n for n, _ in kernel.named_buffers()} == {"inv_dt", "A_real", "A_imag"}


def test_untied_step_sizes_have_one_a_pair() -> None:
    assert make(dt_tie=False).inv_dt.shape == (4, 4)


def test_step_sizes_are_log_uniform_between_the_bounds() -> None:
    dt = make(d_model=4000, d_state=2, dt_min=0.01, dt_max=0.1)._get_params()[0].detach()
    assert 0.01 <= dt.min() < 0.0102
    assert 0.098 < dt.max() <= 0.1001
    assert abs(float(dt.log().mean()) - math.log(0.01 * 0.1) / 2) < 0.05


def test_s4d_lin_and_inv_have_their_published_poles() -> None:
    n = 10
    k = np.arange(n // 2)
    for init, imag in (("diag-lin", np.pi * k), ("diag-inv", n / np.pi * (n / (2 * k + 1) - 1))):
        A, B = initial_poles(init, n)
        np.testing.assert_allclose(A.numpy(), -0.5 - 1j * imag, rtol=1e-6, atol=1e-6)
        assert (B == 1).all()


@pytest.mark.parametrize("n", [2, 8, 64])
def test_s4d_legs_has_the_eigenvalues_of_hippos_normal_part(n: int) -> None:
    i = np.arange(n)
    root = np.sqrt(2 * i + 1)
    A = -np.tril(np.outer(root, root), -1) - np.diag(i + 1.0)
    normal = A + np.outer(root, root) / 2
    values, vectors = np.linalg.eig(normal)
    order = np.argsort(values.imag)[: n // 2]
    poles, B = initial_poles("diag-legs", n)
    np.testing.assert_allclose(poles.numpy(), values[order], rtol=1e-4, atol=1e-4)
    size = np.abs(np.linalg.solve(vectors, root))[order]  # eigenvectors come with an arbitrary phase
    clipped = np.abs(B.numpy()) < 0.999 * size
    assert (np.abs(B.imag.numpy()[clipped]) > 1.99).all()
    np.testing.assert_allclose(np.abs(B.numpy())[~clipped], size[~clipped], rtol=1e-3)


def test_equal_seeds_differ_by_the_poles_alone() -> None:
    lin, task, inv = (make(5, init=init).state_dict() for init in ("diag-lin", "tdi", "diag-inv"))
    assert all(torch.equal(lin[name], task[name]) for name in lin)
    assert [name for name in lin if not torch.equal(lin[name], inv[name])] == ["A_imag"]
    assert make(init="tdi").init == "tdi"


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_invert(transform: str) -> None:
    value = torch.tensor([2e-4, 0.01, 0.5, 0.9], dtype=torch.float64)
    back = from_parameter(to_parameter(value, transform), transform)
    torch.testing.assert_close(back, value + (1e-4 if transform == "relu" else 0.0))


def test_the_softplus_inverse_neither_overflows_nor_cancels() -> None:
    value = torch.tensor([1e-3, 200.0], dtype=torch.float32)
    torch.testing.assert_close(from_parameter(to_parameter(value, "softplus"), "softplus"), value)


def test_bandlimit_silences_fast_poles() -> None:
    kernel = make(dt_min=0.1, dt_max=0.1, bandlimit=0.25)
    dt, A, _, C = kernel._get_params()
    silent = (dt * A.imag.abs() / (2 * math.pi)) >= 0.125
    assert silent.any()
    assert (C[0][silent] == 0).all()
    assert (C[0][~silent] != 0).all()


def test_the_rate_option_samples_the_same_response_more_finely() -> None:
    kernel = make().double()
    coarse, fine = kernel(8)[0], kernel(16, rate=0.5)[0]
    # under zero-order hold two half steps of the fine kernel hold what one whole step does
    torch.testing.assert_close(fine.unflatten(-1, (8, 2)).sum(-1)[..., 0], coarse[..., 0])


def test_real_form_has_the_spectrum_and_response_of_the_pairs() -> None:
    torch.manual_seed(3)
    real = RealS4DKernel(3, d_state=6, channels=2).double()
    torch.manual_seed(3)
    pairs = S4DKernel(3, d_state=6, channels=2).double()
    torch.testing.assert_close(real(40)[0], pairs(40)[0])
    dt, A, B, C = (t.detach().numpy() for t in real.matrices())
    poles = pairs._get_params()[1].detach().numpy()
    for h in range(3):
        assert np.isrealobj(A)
        expected = np.sort_complex(np.r_[poles[h], poles[h].conj()])
        np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(A[h])), expected, atol=1e-9)
        ad, bd, *_ = cont2discrete((A[h], B[h][:, None], C[:, h], np.zeros((2, 1))), float(dt[h, 0]), "zoh")
        state, response = bd, []
        for _ in range(40):
            response.append(C[:, h] @ state[:, 0])
            state = ad @ state
        np.testing.assert_allclose(np.array(response).T, real(40)[0][:, h].detach().numpy(), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "diag-linn"}, "did you mean 'diag-lin'"),
        ({"disc": "dss"}, "bilinear"),
        ({"real_transform": "expp"}, "real_transform='expp'.*did you mean 'exp'"),
        ({"d_state": 7}, "d_state=7"),
        ({"n_ssm": 3}, "n_ssm=3 does not divide d_model=4"),
        ({"d_model": 0}, "d_model=0"),
        ({"dt_min": 0.2}, "dt_min=0.2"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make(**options)
