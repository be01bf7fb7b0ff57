"""A model that comes out of a forward pass as it went in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

CONTAINERS = ("_parameters", "_buffers", "_modules")


@contextmanager
def preserved(model: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients inside; afterwards all is as before.

    That is: attributes of every module (training flags, caches, lengths seen so far), its parameters and
    buffers, both which tensors they are and what they hold, and the random states of Python, NumPy and torch.
    Lists and dictionaries that a module changes in place are not copied.
    """
    attributes = {module: snapshot(module) for module in model.modules()}
    tensors = [*model.parameters(), *model.buffers()]
    values = [tensor.detach().clone() for tensor in tensors]
    states = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices), torch.no_grad():
            model.eval()
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        for module, saved in attributes.items():
            put_back(module, saved)
        write_back(tensors, values)


def snapshot(module: nn.Module) -> dict[str, Any]:
    """The module's attributes; of the containers a copy, as they are changed in place."""
    return {name: dict(v) if name in CONTAINERS else v for name, v in module.__dict__.items()}


def put_back(module: nn.Module, saved: dict[str, Any]) -> None:
    """Undo what happened to the attributes since ``snapshot``."""
    now = module.__dict__
    for name in set(now) - set(saved):
        del now[name]
    for name, value in saved.items():
        if name in CONTAINERS:
            now[name].clear()
            now[name].update(value)
        else:
            now[name] = value


def write_back(tensors: list[Tensor], values: list[Tensor]) -> None:
    """Restore contents; tensors that did not change are not written to."""
    with torch.no_grad():
        for tensor, value in zip(tensors, values, strict=True):
            if not torch.equal(tensor, value):
                tensor.data.copy_(value)
