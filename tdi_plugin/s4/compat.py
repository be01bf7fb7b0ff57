"""What s4's train.py needs changed, in its own process only, to run on today's packages."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def tolerate_wandb_settings(wandb: ModuleType) -> bool:
    """Let ``wandb.Settings(start_method="fork")`` pass where wandb has dropped that argument.

    Returns:
        True if that was needed.
    """
    settings = wandb.Settings
    try:
        settings(start_method="fork")
    except Exception:
        pass
    else:
        return False

    @functools.wraps(settings, updated=())
    def without_start_method(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("start_method", None)
        return settings(*args, **kwargs)

    wandb.Settings = without_start_method  # type: ignore[attr-defined]
    return True


def empty_absent_splits(dataset_class: type) -> None:
    """Where a data set lacks a split, give Lightning no loader rather than None among the loaders."""
    for name in ("val_dataloader", "test_dataloader"):
        original = getattr(dataset_class, name)

        @functools.wraps(original)
        def loaders(self: Any, *args: Any, _original: Callable[..., Any] = original, **kwargs: Any) -> Any:
            found = _original(self, *args, **kwargs)
            return [] if found is None else found

        setattr(dataset_class, name, loaders)


def prepare_each_config(train_utils: ModuleType) -> None:
    """Before s4 takes a config: allow a second job in one process, and the user's own checkpoints."""
    original = train_utils.process_config
    if "config" not in inspect.signature(original).parameters:
        return

    @functools.wraps(original)
    def process_config(config: Any) -> Any:
        from omegaconf import OmegaConf

        if OmegaConf.has_resolver("eval"):
            OmegaConf.clear_resolver("eval")
        if _loads_checkpoint(config):
            os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        return original(config)

    train_utils.process_config = process_config  # type: ignore[attr-defined]


def _loads_checkpoint(config: Mapping[str, Any]) -> bool:
    """Checkpoints of s4 hold its config, which PyTorch's restricted loader refuses."""
    train, tolerance = config.get("train") or {}, config.get("tolerance") or {}
    return bool(train.get("ckpt") or train.get("pretrained_model_path") or tolerance.get("id"))
