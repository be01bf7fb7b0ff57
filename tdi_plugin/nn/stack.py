"""Models of one architecture as one: parameters stacked along a first axis, run together by vmap."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from tdi_plugin.errors import OptionError

BY_MEMBER = ("training", "init")
"""Settings of a module that may differ: how it was initialised is no part of what it computes."""


class StackedModels:
    """M modules whose parameters and buffers are stacked, (M, ...) each.

    Args:
        models: of one class with equal shapes. They are copied, not changed.

    Raises:
        OptionError: if their parameters differ in name, shape or optimizer options.
    """

    def __init__(self, models: Sequence[nn.Module]) -> None:
        signatures = [_signature(m) for m in models]
        for i, signature in enumerate(signatures):
            if signature != signatures[0]:
                differs = [str(a) for a, b in zip(signature, signatures[0], strict=False) if a != b]
                raise OptionError(
                    f"Member {i} differs from member 0 in {(differs or ['the number of its parts'])[0]}; "
                    "an ensemble takes models of one architecture with one set of optimizer options."
                )
        # a deep copy of a parameter drops its attributes, _optim among them
        self.options = {n: getattr(p, "_optim", {}) for n, p in models[0].named_parameters()}
        self.module = copy.deepcopy(models[0])
        for copied, own in zip(self.module.parameters(), models[0].parameters(), strict=True):
            if hasattr(own, "_optim"):  # a parameter's deep copy leaves its attributes behind
                copied._optim = own._optim  # type: ignore[attr-defined]
        self.size = len(models)
        self.parameters, self.buffers = stack_module_state(list(models))

    def __call__(self, x: Tensor, shared: bool = False) -> Tensor:
        """Inputs (M, B, ...), or (B, ...) for all members if ``shared``, to outputs (M, B, ...)."""
        if self.size == 1:
            alone = [{k: v[0] for k, v in values.items()} for values in (self.parameters, self.buffers)]
            return self._one(alone[0], alone[1], x if shared else x[0]).unsqueeze(0)
        run = vmap(self._one, in_dims=(0, 0, None if shared else 0), randomness="different")
        return run(self.parameters, self.buffers, x)

    def part(self, members: slice) -> StackedModels:
        """Some of the members, as views."""
        part = copy.copy(self)
        part.parameters = {k: v[members] for k, v in self.parameters.items()}
        part.buffers = {k: v[members] for k, v in self.buffers.items()}
        part.size = len(range(*members.indices(self.size)))
        return part

    def _one(self, parameters: dict[str, Tensor], buffers: dict[str, Tensor], x: Tensor) -> Tensor:
        return functional_call(self.module, (parameters, buffers), (x,))

    def groups(self, lr: float, weight_decay: float) -> list[dict[str, Any]]:
        """Optimizer groups: each parameter's ``_optim`` before ``lr`` and ``weight_decay``.

        Args:
            lr: of parameters without a rate of their own.
            weight_decay: of parameters without one of their own.
        """
        found: dict[tuple[float, float], list[Tensor]] = {}
        for name, own in self.options.items():
            key = (own.get("lr", lr), own.get("weight_decay", weight_decay))
            found.setdefault(key, []).append(self.parameters[name])
        return [{"params": p, "lr": rate, "weight_decay": decay} for (rate, decay), p in found.items()]

    @torch.no_grad()
    def clip_grad_norm_(self, largest: float) -> None:
        """Scale each member's gradient to at most this norm, like ``torch.nn.utils.clip_grad_norm_``."""
        grads = [p.grad for p in self.parameters.values() if p.grad is not None]
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads]).norm(dim=0)
        factor = (largest / (norms + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(factor.view(-1, *(1,) * (grad.ndim - 1)))

    @torch.no_grad()
    def give_back(self, models: Sequence[nn.Module]) -> None:
        """Copy each member's parameters and buffers into the models, in place."""
        for i, model in enumerate(models):
            for name, own in [*model.named_parameters(), *model.named_buffers()]:
                own.copy_((self.parameters if name in self.parameters else self.buffers)[name][i])


def saved_values(model: nn.Module, x: Tensor) -> int:
    """Size in values of the largest tensor that the model keeps for its backward pass on inputs x."""
    largest = 0

    def pack(tensor: Tensor) -> Tensor:
        nonlocal largest
        largest = max(largest, tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        copy.deepcopy(model).train()(x)
    return largest


def _signature(model: nn.Module) -> list[tuple[Any, ...]]:
    """What must be equal for one module to stand for all: names, shapes, optimizer options, settings."""
    found: list[tuple[Any, ...]] = [
        (name, tuple(p.shape), *sorted(getattr(p, "_optim", {}).items()))
        for name, p in model.named_parameters()
    ]
    found += [(name, tuple(b.shape)) for name, b in model.named_buffers()]
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            plain = value is None or isinstance(value, (bool, int, float, str))
            if plain and not key.startswith("_") and key not in BY_MEMBER:
                found.append((f"{name}.{key}", value))
    return found
