from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tdi_plugin.hosts import find_hosts
from tdi_plugin.sweep.arms import arm, arms
from tdi_plugin.sweep.group import study_groups
from tdi_plugin.sweep.group_data import GroupData
from tdi_plugin.sweep.members import autocorrelation_time, member
from tdi_plugin.sweep.models import builder
from tdi_plugin.sweep.protocol import group_data
from tdi_plugin.sweep.study import Study

MAY_DIFFER = {"A_real", "A_imag", "B", "inv_dt"}


@pytest.fixture
def data(tiny: Callable[..., Study]) -> GroupData:
    return group_data(next(study_groups(tiny())))


@pytest.mark.parametrize("name", [n for n in arms() if n not in ("lin", "refined", "shuffled")])
@pytest.mark.parametrize("model", ["deep-batch", "one-linear"])
def test_arms_of_a_seed_differ_by_poles_alone(data: GroupData, name: str, model: str) -> None:
    build, train = builder(model, data, 1e-3), data.run(0.5, 0).train
    base, _ = member(build, arm("lin"), train, 0, {})
    other, _ = member(build, arm(name), train, 0, {})
    states = base.state_dict(), other.state_dict()
    assert list(states[0]) == list(states[1])
    differing = {k.rpartition(".")[2] for k, v in states[0].items() if not torch.equal(v, states[1][k])}
    assert differing
    assert differing <= MAY_DIFFER
    assert ("inv_dt" in differing) == (name == "autocorrelation")
    options = [[getattr(p, "_optim", None) for p in m.parameters()] for m in (base, other)]
    assert options[0] == options[1]


def test_labels_that_say_nothing_change_nothing(data: GroupData) -> None:
    build = builder("deep-layer", data, 1e-3)
    kept = 0
    for seed in range(8):
        train = data.run(0.5, seed).train
        model, placed = member(build, arm("shuffled"), train, seed, {})
        same = all(torch.equal(v, w) for v, w in zip(model.state_dict().values(), member(
            build, arm("lin"), train, seed, {})[0].state_dict().values(), strict=True))  # fmt: skip
        assert same == placed["reason"].startswith("no label information found")
        kept += same
    assert kept >= 6


def test_same_seed_same_member_other_seed_other_member(data: GroupData) -> None:
    build, train = builder("deep-layer", data, 1e-3), data.run(0.5, 0).train
    first, again, other = (member(build, arm("tdi"), train, s, {})[0].state_dict() for s in (0, 0, 1))
    assert all(torch.equal(v, again[k]) for k, v in first.items())
    assert not torch.equal(first["encoder.weight"], other["encoder.weight"])


def test_the_global_random_stream_is_left_alone(data: GroupData) -> None:
    before = torch.get_rng_state()
    member(builder("deep-layer", data, 1e-3), arm("shuffled"), data.run(0.5, 0).train, 0, {})
    assert torch.equal(before, torch.get_rng_state())


def test_fisher_poles_are_where_the_classes_differ(data: GroupData) -> None:
    model, placed = member(builder("deep-layer", data, 1e-3), arm("fisher"), data.run(1.0, 0).train, 0, {})
    assert placed["statistic"] == "fisher"
    host = find_hosts(model)[0]
    rows = host.poles.shape[0]
    frequencies = (-host.poles.imag * host.dt[:rows] / (2 * torch.pi)).flatten()
    assert ((frequencies > 0.15) & (frequencies < 0.35)).double().mean() > 0.6


def test_options_of_a_study_lie_under_the_arms_own(data: GroupData) -> None:
    build, train = builder("deep-layer", data, 1e-3), data.run(0.5, 0).train
    fisher = member(build, arm("fisher"), train, 0, {})[0].state_dict()
    forced = member(build, arm("tdi"), train, 0, {"statistic": "fisher"})[0].state_dict()
    kept = member(build, arm("fisher"), train, 0, {"statistic": "power"})[0].state_dict()
    assert all(torch.equal(fisher[k], forced[k]) and torch.equal(fisher[k], kept[k]) for k in fisher)


def test_alpha_scales_imaginary_parts(data: GroupData) -> None:
    build, train = builder("one-linear", data, 1e-3), data.run(0.5, 0).train
    lin, slow = (find_hosts(member(build, arm(n), train, 0, {})[0])[0].poles for n in ("lin", "lin-slow"))
    torch.testing.assert_close(slow.imag, 0.1 * lin.imag, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(slow.real, lin.real)


def test_autocorrelation_time_of_a_known_process() -> None:
    rho = 0.9
    x = torch.zeros(200, 400)
    noise = torch.randn(200, 400, generator=torch.Generator().manual_seed(0))
    for t in range(1, 400):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    # rho^k = 1/e at k = 1/-log(rho) = 9.5; removing the mean shortens it a little
    assert 8 <= autocorrelation_time(x[..., None]) <= 11
