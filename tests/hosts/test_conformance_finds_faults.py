"""Three adapters that are wrong on purpose: the suite says what is wrong with each."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import Tensor, nn

from tdi_plugin.hosts import register_host, registry
from tdi_plugin.hosts.common import CommonHost
from tdi_plugin.nn import S4DKernel
from tdi_plugin.testing import HostConformance, response_of_kernel


class WrongSign(CommonHost):
    """Reads a module that stores +i as if it stored -i, without conjugating C."""

    @property
    def poles(self) -> Tensor:
        return super().poles.conj().resolve_conj()

    def write(self, poles=None, dt=None, output=None):
        super().write(None if poles is None else poles.conj().resolve_conj(), dt, output)


class PlusKernel(S4DKernel):
    """A = -T(A_real) + i T(A_imag)."""

    def _get_params(self, rate=1.0):
        dt, a, b, c = super()._get_params(rate)
        return dt, a.conj().resolve_conj(), b, c


class Replaces(CommonHost):
    """Puts a new parameter where the old one was."""

    def write(self, poles=None, dt=None, output=None):
        super().write(poles, dt, output)
        self.module.A_imag = nn.Parameter(self.module.A_imag.detach().clone())


class Ignores(CommonHost):
    """Takes new poles and does nothing with them."""

    def write(self, poles=None, dt=None, output=None):
        super().write(None, dt, output)


class FrozenKernel(S4DKernel):
    """Computes its poles from a copy that nobody writes to."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.frozen = super()._get_params()[1].detach()

    def _get_params(self, rate=1.0):
        dt, _, b, c = super()._get_params(rate)
        return dt, self.frozen, b, c


FAULTS = {
    "wrong sign": (WrongSign, PlusKernel, ["test_kernel_is_that_of_the_poles"], "sign of Im A is wrong"),
    "replaced parameter": (
        Replaces,
        S4DKernel,
        ["test_parameters_are_written_in_place"],
        "A_imag was replaced by another tensor",
    ),
    "ignored write": (
        Ignores,
        S4DKernel,
        ["test_what_is_written_is_read_back", "test_each_pole_resonates_where_it_was_asked"],
        "poles was written but reads back",
    ),
    "module that ignores": (
        CommonHost,
        FrozenKernel,
        ["test_what_is_written_is_read_back"],
        "A_real was written but not taken",
    ),
}


@pytest.fixture
def adapters(monkeypatch):
    monkeypatch.setattr(registry, "ADAPTERS", list(registry.ADAPTERS))


def failures(suite: HostConformance) -> dict[str, str]:
    """Message of every check that fails."""
    found = {}
    for name, check in inspect.getmembers(suite, inspect.ismethod):
        if name.startswith("test_"):
            try:
                check()
            except Exception as error:
                found[name] = str(error)
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault, adapters):
    adapter, kernel, checks, words = FAULTS[fault]
    register_host(lambda name, module: adapter(name, module, fault) if isinstance(module, kernel) else None)

    class Suite(HostConformance):
        def make_model(self):
            torch.manual_seed(0)
            return kernel(4, d_state=8)

        def frequency_response(self, model):
            return response_of_kernel(model(1536)[0])

    found = failures(Suite())
    assert set(checks) <= set(found), f"{fault} passed {set(checks) - set(found)}"
    assert words in found[checks[0]], found[checks[0]]


def test_an_unwritten_suite_says_what_to_write():
    found = failures(HostConformance())
    assert all("write make_model()" in message for message in found.values())
    assert len(found) == 16
