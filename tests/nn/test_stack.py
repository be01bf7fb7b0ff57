"""Stacked models do what each does alone."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn

from tdi_plugin.errors import OptionError
from tdi_plugin.nn import OneLayer, SequenceClassifier
from tdi_plugin.nn.memory import reuse_freed_memory
from tdi_plugin.nn.stack import StackedModels, saved_values


def deep(seed: int, **options: Any) -> nn.Module:
    torch.manual_seed(seed)
    layer = {"d_state": 6, "lr": 1e-3, **options}
    return SequenceClassifier(1, 3, d_model=4, n_layers=2, norm="batch", layer=layer)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("shared", [False, True])
def test_outputs_and_running_statistics(members: int, shared: bool) -> None:
    models = [deep(seed) for seed in range(members)]
    stack = StackedModels(models)
    x = torch.randn(5, 20, 1) if shared else torch.randn(members, 5, 20, 1)
    out = stack(x, shared=shared)
    alone = [model(x if shared else x[i]) for i, model in enumerate(models)]
    torch.testing.assert_close(out, torch.stack(alone))
    for name, stacked in stack.buffers.items():
        torch.testing.assert_close(stacked, torch.stack([m.get_buffer(name) for m in models]))


def test_gradients_are_each_members_own_and_clipped_alone() -> None:
    models = [deep(seed) for seed in range(3)]
    stack = StackedModels(models)
    x = torch.randn(3, 5, 20, 1)
    (stack(x).square().sum(dim=(1, 2)) * torch.tensor([1.0, 100.0, 1e-4])).sum().backward()
    stack.clip_grad_norm_(0.5)
    for i, model in enumerate(models):
        (model(x[i]).square().sum() * (1.0, 100.0, 1e-4)[i]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(stack.parameters[name].grad[i], parameter.grad, atol=1e-5, rtol=1e-4)


def test_groups_follow_optim() -> None:
    groups = StackedModels([deep(0), deep(1)]).groups(lr=0.01, weight_decay=0.1)
    rates = {(g["lr"], g["weight_decay"]): len(g["params"]) for g in groups}
    assert rates == {(0.01, 0.1): len(list(deep(0).parameters())) - 10, (1e-3, 0.0): 8, (1e-3, 0.1): 2}


def test_parts_are_views_and_give_back_copies() -> None:
    models = [deep(seed) for seed in range(3)]
    stack = StackedModels(models)
    part = stack.part(slice(1, 3))
    assert part.size == 2
    x = torch.randn(5, 20, 1)
    torch.testing.assert_close(part(x, shared=True)[0], models[1](x))
    with torch.no_grad():
        stack.parameters["decoder.output_transform.bias"].fill_(7.0)
    storage = models[2].decoder.output_transform.bias.data_ptr()
    stack.give_back(models)
    assert models[2].decoder.output_transform.bias.data_ptr() == storage
    assert (models[2].decoder.output_transform.bias == 7.0).all()


@pytest.mark.parametrize(
    "other",
    [
        lambda: deep(1, d_state=8),
        lambda: deep(1, lr=2e-3),
        lambda: deep(1, disc="bilinear"),
        lambda: SequenceClassifier(1, 3, d_model=4, n_layers=1, layer={"d_state": 6, "lr": 1e-3}),
    ],
)
def test_other_architectures_are_refused(other: Any) -> None:
    with pytest.raises(OptionError, match="Member 1 differs"):
        StackedModels([deep(0), other()])


def test_members_may_differ_in_how_they_were_initialised() -> None:
    models = [deep(0), deep(1, init="diag-inv")]
    x = torch.randn(5, 20, 1)
    out = StackedModels(models)(x, shared=True)
    torch.testing.assert_close(out, torch.stack([model(x) for model in models]))


def test_saved_values_counts_the_largest_activation() -> None:
    model, x = deep(0), torch.randn(16, 200, 1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert saved_values(model, x) == 16 * 200 * 8  # the input of the GLU
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert saved_values(OneLayer(1, 3, 200, d_model=2, d_state=4), x) < 16 * 200 * 2


def test_reusing_memory_is_safe_to_ask_for_twice() -> None:
    assert reuse_freed_memory() is reuse_freed_memory()
    if not sys.platform.startswith("linux"):
        assert not reuse_freed_memory()
