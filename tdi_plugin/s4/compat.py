"""What s4's train.py needs changed, in its own process only, to run on today's packages."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import ModuleType
from typing import Any

from tdi_plugin.errors import OptionError
from tdi_plugin.s4.register import require_init


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


def spell_out_splits(dataset_class: type) -> None:
    """Give today's Lightning loaders where s4's data sets have a None.

    No test set (the synthetic tasks): no loader. No validation set (IMDB as LRA has it): s4 means to validate
    on the test set, and its checkpoints wait for that number.
    """

    def val(self: Any, found: Any, **loader: Any) -> Any:
        return self.test_dataloader(**loader) if found is None else found

    def test(self: Any, found: Any, **loader: Any) -> Any:
        return [] if found is None else found

    for name, rule in (("val_dataloader", val), ("test_dataloader", test)):
        _follow(dataset_class, name, rule)


def add_columns(datasets: ModuleType) -> None:
    """Let s4 join two text columns of a table with ``+``, as when a column was a list."""
    column = getattr(datasets.arrow_dataset, "Column", None)
    if column is not None and not hasattr(column, "__add__"):
        column.__add__ = lambda self, other: [*self, *other]


def _follow(owner: Any, name: str, rule: Callable[..., Any]) -> None:
    """Let ``rule(self, result, **kwargs)`` have the last word on a method, once."""
    original = getattr(owner, name)
    if hasattr(original, "_tdi_followed"):
        return

    @functools.wraps(original)
    def followed(self: Any, **kwargs: Any) -> Any:
        return rule(self, original(self, **kwargs), **kwargs)

    followed._tdi_followed = True  # type: ignore[attr-defined]
    setattr(owner, name, followed)


def prepare_each_config(train_utils: ModuleType) -> None:
    """Before s4 takes a config: allow a second job in one process, and the user's own checkpoints."""
    original = train_utils.process_config
    if hasattr(original, "_tdi_followed"):
        return

    @functools.wraps(original)
    def process_config(config: Any) -> Any:
        from omegaconf import OmegaConf

        if OmegaConf.has_resolver("eval"):
            OmegaConf.clear_resolver("eval")
        check_options(config)
        if _loads_checkpoint(config):
            os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        return original(config)

    process_config._tdi_followed = True  # type: ignore[attr-defined]
    train_utils.process_config = process_config  # type: ignore[attr-defined]


def check_options(config: Mapping[str, Any]) -> None:
    """Refuse at once what would fail late: unknown options, ours under ``model.layer``, no place for tdi.

    Raises:
        OptionError: naming the option.
        HostError: as `require_init`.
    """
    from tdi_plugin.config import TDIConfig

    TDIConfig.of(dict(config.get("tdi") or {}))
    layers = (config.get("model") or {}).get("layer") or {}
    for layer in [layers] if isinstance(layers, Mapping) else layers:
        if layer.get("init") == "tdi":
            require_init()
        for name in set(layer) & {field.name for field in fields(TDIConfig)}:
            raise OptionError(
                f"model.layer.{name} is no option of s4's layers; give it in the tdi group: +tdi.{name}=..."
            )


def _loads_checkpoint(config: Mapping[str, Any]) -> bool:
    """Checkpoints of s4 hold its config, which PyTorch's restricted loader refuses."""
    train, tolerance = config.get("train") or {}, config.get("tolerance") or {}
    return bool(train.get("ckpt") or train.get("pretrained_model_path") or tolerance.get("id"))
