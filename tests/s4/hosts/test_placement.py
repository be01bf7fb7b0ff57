"""Poles on the real kernels of s4: where they resonate, what is refused, and what stays as it was."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdi_plugin.errors import HostError
from tdi_plugin.hosts import find_hosts
from tdi_plugin.init import tdi_
from tdi_plugin.poles import group_mean, place
from tdi_plugin.spectrum.value import TaskSpectrum
from tdi_plugin.testing import placement_errors, response_of_kernel

TRANSFORMS = ["exp", "none", "softplus", "relu"]
forms = st.fixed_dictionaries(
    {
        "place": st.sampled_from(["ssm", "file"]),
        "cls": st.sampled_from(["SSMKernelDiag", "SSMKernelDPLR"]),
        "disc": st.sampled_from(["zoh", "bilinear", "dss"]),
        "real_transform": st.sampled_from(TRANSFORMS),
        "imag_transform": st.sampled_from(TRANSFORMS),
        "dt_transform": st.sampled_from(["softplus", "exp"]),
        "dt_fast": st.booleans(),
        "dt_tie": st.booleans(),
    }
)


def spectrum(length: int = 400) -> TaskSpectrum:
    f = torch.arange(length // 2 + 1, dtype=torch.float64) / length
    return TaskSpectrum(torch.exp(-(((f - 0.2) / 0.05) ** 2)) + 1e-3, length, "combined")


def build(s4, place="ssm", cls="SSMKernelDiag", **options):
    options = {"init": "tdi", "d_model": 8, "d_state": 8, "dt_transform": "softplus", **options}
    return getattr(getattr(s4, place), cls)(verbose=False, **options)


@pytest.mark.filterwarnings("ignore:Casting complex values")  # s4's "dss" casts its kernel
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    forms,
    st.sampled_from([(1, 1), (4, 1), (4, 2), (6, 6)]),
    st.integers(1, 3),
    st.floats(1e-4, 0.02),
    st.floats(1, 50),
    st.floats(0.01, 0.1),
    st.data(),
)
def test_every_pole_peaks_where_it_was_placed(s4, form, shape, pairs, dt_min, ratio, damping, data):
    channels, rows = shape
    sizes = {"d_model": channels, "d_state": 2 * pairs, "n_ssm": rows, "dt_min": dt_min}
    model = build(s4, **{**sizes, "dt_max": dt_min * ratio, **form})
    [host] = find_hosts(model)
    drawn = st.lists(st.floats(0.002, 0.4995), min_size=rows * pairs, max_size=rows * pairs)
    f = torch.tensor(data.draw(drawn), dtype=torch.float64).view(rows, pairs)
    decay = torch.full_like(f, damping)
    step = group_mean(host.dt, rows)
    host.write(poles=place(f, decay, step, host.disc), dt=step.repeat(channels // rows, 1))
    errors = placement_errors(host, lambda: response_of_kernel(model(L=int(20 / damping))[0]), f, decay)
    assert errors.max() < 0.01


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0.002, 0.4995), min_size=6, max_size=6), st.floats(0.01, 0.1))
def test_the_teaching_file_peaks_there_too(s4, drawn, damping):
    model = s4.s4d.S4DKernel(3, N=4)
    [host] = find_hosts(model)
    f = torch.tensor(drawn, dtype=torch.float64).view(3, 2)
    decay = torch.full_like(f, damping)
    host.write(poles=place(f, decay, host.dt))
    errors = placement_errors(host, lambda: response_of_kernel(model(L=int(20 / damping))), f, decay)
    assert errors.max() < 0.01


def test_without_prewarping_the_low_rank_kernel_peaks_elsewhere(s4):
    model = build(s4, cls="SSMKernelDPLR", d_model=1, d_state=2)
    [host] = find_hosts(model)
    f, decay = torch.tensor([[0.45]], dtype=torch.float64), torch.tensor([[0.02]], dtype=torch.float64)
    host.write(poles=place(f, decay, host.dt, "zoh"))
    errors = placement_errors(host, lambda: response_of_kernel(model(L=1000)[0]), f, decay)
    assert 0.45 * (1 - errors.item()) == pytest.approx(0.304, abs=0.002)


def test_s4_reads_back_the_reported_poles(s4):
    model = build(s4)
    layer = tdi_(model, spectrum()).layers[0]
    dt, A, _, _ = model._get_params()
    torch.testing.assert_close((-A.imag * dt).double() / (2 * torch.pi), layer.frequencies, rtol=1e-5, atol=0)
    torch.testing.assert_close((-A.real * dt).double(), layer.damping, rtol=1e-5, atol=0)
    assert layer.host == "s4 SSMKernelDiag"
    assert model.backend == "cuda", "s4's own choice of product is left as it was"


@pytest.mark.parametrize("forward_first", [False, True])
def test_a_low_rank_kernel_has_its_new_poles_and_old_output_weights(s4, forward_first):
    model = build(s4, cls="SSMKernelDPLR", l_max=400)
    weights = torch.view_as_complex(model.C.detach().clone())
    if forward_first:
        model(L=400)
        assert int(model.l_kernel) == 400
    tdi_(model, spectrum())
    own = model(L=400)[0].detach()
    dt, A, B = (value.detach() for value in model._get_params()[:3])
    p = ((1 + dt * A / 2) / (1 - dt * A / 2)).to(torch.complex128)
    gain = (weights * B[0] * dt / (1 - dt * A / 2)).to(torch.complex128)
    expected = 2 * torch.einsum("chp,hpl->chl", gain, p[..., None] ** torch.arange(400)).real
    torch.testing.assert_close(own.double(), expected, rtol=0, atol=1e-3 * float(expected.abs().max()))


def test_low_rank_kernels_with_their_own_p_are_refused(s4):
    model = build(s4, cls="SSMKernelDPLR", init="legs")
    with pytest.raises(HostError, match=r"P is not zero .*init=tdi or init=diag-lin"):
        tdi_(model, spectrum())


def test_real_kernels_are_refused(s4):
    model = build(s4, is_real=True, init="diag-real")
    assert find_hosts(model)[0].kernel(16).shape == (1, 8, 16)
    with pytest.raises(HostError, match=r"is_real=True, so no A_imag.*is_real=False"):
        tdi_(model, spectrum())


KINDS = {
    "conv": ("ConvKernel", {"l_max": 8}),
    "ema": ("EMAKernel", {"d_state": 2}),
    "dense": ("SSMKernelDense", {"init": "legs"}),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_kernels_without_complex_poles_are_refused(s4, kind):
    name, options = KINDS[kind]
    model = torch.nn.Sequential(s4.kernels.registry[kind](d_model=2, verbose=False, **options))
    with pytest.raises(HostError, match=rf"0 \({name}: "):
        tdi_(model, spectrum())


def test_the_paired_run_differs_by_the_poles_alone(s4):
    torch.manual_seed(5)
    model = build(s4)
    tdi_(model, spectrum())
    state = torch.get_rng_state()
    torch.manual_seed(5)
    base = build(s4, init="diag-lin")
    assert torch.equal(torch.get_rng_state(), state)
    differ = [n for n, p in base.named_parameters() if not torch.equal(p, model.get_parameter(n))]
    assert differ == ["A_imag"]
