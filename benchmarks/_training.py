"""A classifier and its training step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.nn import SequenceClassifier


def classifier(d_model: int, d_state: int, n_layers: int = 2, **layer: Any) -> SequenceClassifier:
    """Four classes of series with one channel."""
    layer["d_state"] = d_state
    return SequenceClassifier(1, 4, d_model=d_model, n_layers=n_layers, norm="batch", layer=layer)


class Step:
    """Forward, backward and AdamW of a classifier on the same inputs again and again."""

    def __init__(self, model: nn.Module, x: Tensor) -> None:
        self.model, self.x, self.y = model, x, torch.arange(x.shape[0]) % 4
        self.optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

    def __call__(self) -> None:
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(self.x), self.y).backward()
        self.optimizer.step()
