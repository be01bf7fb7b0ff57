"""The factored product inside s4's kernels: the same kernels, gradients and states, and back again."""

from __future__ import annotations

import copy

import pytest
import torch

from tdi_plugin.hosts.fast import restore_kernels, use_fast_kernels
from tdi_plugin.init import tdi_
from tdi_plugin.spectrum.value import TaskSpectrum


def build(s4, cls="SSMKernelDiag", place="ssm", **options):
    torch.manual_seed(0)
    options = {"init": "tdi", "d_model": 6, "d_state": 8, "dt_transform": "softplus", **options}
    return getattr(getattr(s4, place), cls)(verbose=False, **options)


def relative(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).detach().abs().max() / b.detach().abs().max())


FORMS = [
    {},
    {"disc": "bilinear", "n_ssm": 2, "channels": 2},
    {"place": "file", "dt_tie": False},
    {"cls": "SSMKernelDPLR", "l_max": 300},
    {"cls": "SSMKernelDPLR", "place": "file", "n_ssm": 3},
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [1, 37, 256])
def test_kernel_and_gradients_are_those_of_s4(s4, form, length):
    plain = build(s4, **form)
    fast = copy.deepcopy(plain)
    assert use_fast_kernels(fast) == [""]
    torch.manual_seed(1)
    weight, results = torch.randn(plain.channels, 6, length), []
    for model in (plain, fast):
        kernel = model(L=length)[0]
        (kernel * weight).sum().backward()
        results.append((kernel.detach(), {n: p.grad for n, p in model.named_parameters() if n != "P"}))
    # s4's own low-rank kernel is only good to about 1e-4 in float32.
    tolerance = 1e-3 if form.get("cls") else 1e-5
    assert relative(results[1][0], results[0][0]) < tolerance
    largest = max(float(grad.abs().max()) for grad in results[0][1].values())
    for name, grad in results[0][1].items():  # some are zero in exact arithmetic
        error = float((results[1][1][name] - grad).abs().max())
        assert error < tolerance * max(float(grad.abs().max()), 1e-3 * largest), name


def test_states_are_forwarded_alike(s4):
    plain = build(s4)
    fast = copy.deepcopy(plain)
    use_fast_kernels(fast)
    u, state = torch.randn(2, 6, 50), torch.randn(2, 6, 4, dtype=torch.complex64)
    after = [model.forward_state(u, state) for model in (plain, fast)]
    assert relative(torch.view_as_real(after[1]), torch.view_as_real(after[0])) < 1e-5
    free = [model(L=50, state=state)[1] for model in (plain, fast)]
    assert relative(free[1], free[0]) < 1e-5


def test_pykeops_is_not_asked_for(s4, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("nvrtc")

    for name in ("log_vandermonde_keops", "log_vandermonde_transpose_keops"):
        monkeypatch.setattr(s4.ssm, name, broken, raising=False)
    monkeypatch.setattr(s4.ssm, "has_pykeops", True)
    model = build(s4, backend="keops")
    with pytest.raises(KeyError, match="nvrtc"):
        model(L=8)
    use_fast_kernels(model)
    assert torch.isfinite(model(L=8)[0]).all()
    model.forward_state(torch.ones(1, 6, 8), model.default_state(1))


def test_it_can_be_undone_and_leaves_the_rest_alone(s4):
    model, other = build(s4), build(s4)
    keys, expected = list(model.state_dict()), model(L=20)[0]
    use_fast_kernels(model)
    assert list(model.state_dict()) == keys
    assert model.backend == "cuda"
    assert "forward" not in vars(other)
    assert copy.deepcopy(model).forward.module is not model
    assert restore_kernels(model) == [""]
    assert not {"forward", "forward_state"} & set(vars(model))
    assert torch.equal(model(L=20)[0], expected)


def test_a_low_rank_part_that_is_not_zero_goes_to_s4(s4):
    plain = build(s4, "SSMKernelDPLR", init="legs", l_max=64)
    fast = copy.deepcopy(plain)
    use_fast_kernels(fast)
    assert torch.equal(fast(L=64)[0], plain(L=64)[0])


def test_p_stays_zero_and_in_the_graph(s4):
    model = build(s4, "SSMKernelDPLR", l_max=64)
    use_fast_kernels(model)
    model(L=64)[0].square().sum().backward()
    assert torch.equal(model.P.grad, torch.zeros_like(model.P))


def test_the_option_reaches_every_layer_and_the_report(s4):
    model = torch.nn.Sequential(build(s4), build(s4, "SSMKernelDPLR"))
    f = torch.arange(51, dtype=torch.float64)
    report = tdi_(model, TaskSpectrum(f, 100, "power"), fast_kernel=True)
    assert report.fast_kernels == ("0", "1")
    assert "factored Vandermonde product in 0, 1" in str(report)
    assert "forward" in vars(model[1])
