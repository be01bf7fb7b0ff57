"""Finding layers, choosing among them, and what is refused."""

from __future__ import annotations

import subprocess

import pytest
import torch
import torch.nn.utils.prune
from torch import nn

from tdi_plugin.errors import HostError, OptionError
from tdi_plugin.hosts import Host, find_hosts
from tdi_plugin.hosts.transforms import TRANSFORMS, inverse_softplus
from tdi_plugin.init import tdi_
from tdi_plugin.nn import S4DKernel, SequenceModel
from tdi_plugin.spectrum.value import TaskSpectrum


class ConvKernel(nn.Module):
    """Stands in for s4's free convolution kernel, which is known by its class name."""


def stack() -> SequenceModel:
    return SequenceModel(4, n_layers=3, layer={"d_state": 4})


def test_layers_come_in_order_and_by_position():
    model = stack()
    names = [f"layers.{i}.layer.layer.kernel" for i in range(3)]
    assert [h.name for h in find_hosts(model)] == names
    assert [h.name for h in find_hosts(model, "first")] == names[:1]
    assert [h.name for h in find_hosts(model, [-1, 0])] == [names[0], names[2]]
    assert all(isinstance(h, Host) for h in find_hosts(model))


def test_a_shared_kernel_is_found_once():
    kernel = S4DKernel(2, d_state=4)
    assert len(find_hosts(nn.ModuleList([kernel, kernel]))) == 1


def test_a_model_without_state_space_layers_is_refused():
    with pytest.raises(HostError, match="Linear has no state-space layer: none of its 1 modules"):
        find_hosts(nn.Linear(2, 2))


@pytest.mark.parametrize(("layers", "words"), [([3], "position 3.*has 3"), ([], "empty"), ("last", "'last'")])
def test_positions_that_do_not_exist_are_refused(layers, words):
    with pytest.raises(OptionError, match=words):
        find_hosts(stack(), layers)


def test_unsupported_kernels_are_refused_only_where_asked_for():
    model = nn.Sequential(S4DKernel(2, d_state=4), ConvKernel())
    assert len(find_hosts(model, "first")) == 1
    with pytest.raises(HostError, match=r"1 \(ConvKernel: its kernel is free"):
        find_hosts(model, "all")
    with pytest.raises(HostError, match=r"0 \(ConvKernel"):
        find_hosts(nn.Sequential(ConvKernel(), S4DKernel(2, d_state=4)), "first")


def test_kernels_can_be_chosen_by_a_condition():
    model = nn.Sequential(ConvKernel(), S4DKernel(2, d_state=4), S4DKernel(2, d_state=4, init="tdi"))
    hosts = find_hosts(model, "all", where=lambda module: getattr(module, "init", "") == "tdi")
    assert [h.name for h in hosts] == ["2"]
    with pytest.raises(HostError, match="none of the kind asked for"):
        find_hosts(model, where=lambda module: False)


def test_rows_that_do_not_divide_the_channels_are_refused():
    kernel = S4DKernel(4, d_state=4)
    kernel.A_real = nn.Parameter(kernel.A_real[:3].detach())
    with pytest.raises(HostError, match=r"^The model has 3 rows of poles for 4 channels; n_ssm must divide"):
        find_hosts(kernel)


def test_double_precision_is_read_back_in_double_precision():
    kernel = S4DKernel(4, d_state=8, real_transform="softplus", imag_transform="softplus").double()
    [host] = find_hosts(kernel)
    poles = torch.complex(-torch.linspace(0.1, 60, 16), -torch.linspace(0.1, 3000, 16))
    poles = poles.to(torch.complex128).view(4, 4)
    host.write(poles=poles)
    torch.testing.assert_close(host.poles, poles, rtol=1e-13, atol=0)


def test_a_value_outside_a_transform_names_the_attribute():
    [host] = find_hosts(S4DKernel(2, d_state=4, imag_transform="sigmoid"))
    with pytest.raises(HostError, match=r"A_imag was asked to stand for 3, .*\(0, 1\)"):
        host.write(poles=torch.full((2, 2), -0.5 - 3j, dtype=torch.complex128))


@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_transforms_are_undone_over_their_whole_range(name):
    transform = TRANSFORMS[name]
    low = {"sigmoid": -6, "relu": -3.9}.get(name, -12)
    value = torch.logspace(low, -1e-3 if name == "sigmoid" else 6, 200, dtype=torch.float64)
    torch.testing.assert_close(transform.forward(transform.inverse(value)), value, rtol=1e-12, atol=1e-16)


def test_inverse_softplus_is_finite_where_the_plain_form_is_not():
    value = torch.tensor([1e-30, 1e-4, 100.0, 1e4], dtype=torch.float64)
    assert torch.isinf(torch.log(torch.exp(value.float()[2:]) - 1)).all()
    assert torch.isfinite(inverse_softplus(value)).all()


def test_hosts_are_found_without_importing_s4(run_python):
    code = """
import sys
from tdi_plugin.nn import S4DKernel
from tdi_plugin.hosts import find_hosts
find_hosts(S4DKernel(2, d_state=4))
assert not [m for m in sys.modules if m.split('.')[0] in ('src', 'models', 'lightning', 'hydra')]
"""
    assert isinstance(run_python("-c", code), subprocess.CompletedProcess)


def pruned(model: nn.Module) -> None:
    torch.nn.utils.prune.l1_unstructured(find_hosts(model)[0].module, "A_imag", 0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model.to("meta"), "meta device"),
        (lambda model: model.bfloat16(), "bfloat16"),
        (pruned, "pruned or parametrized"),
    ],
)
def test_parameters_that_cannot_be_written_are_refused(change, words):
    model = stack()
    change(model)
    with pytest.raises(HostError, match=words):
        tdi_(model, TaskSpectrum(torch.ones(5), 8, "power"))


def test_a_model_made_in_inference_mode_is_refused():
    with torch.inference_mode():
        model = stack()
    with pytest.raises(HostError, match="inference_mode"):
        tdi_(model, TaskSpectrum(torch.ones(5), 8, "power"))


@pytest.mark.parametrize("model", [None, "a", [stack()]])
def test_what_is_no_module_is_refused(model):
    with pytest.raises(HostError, match=r"expected a torch\.nn\.Module"):
        find_hosts(model)
