"""What the config of a Lightning run says: its groups, and what follows from them for TDI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import OptionError


def hparams_group(pl_module: Any, name: str) -> Mapping[str, Any] | None:
    """A config group of the run as a plain mapping, or None where the run has none."""
    group = getattr(pl_module, "hparams", {}).get(name)
    if group is None:
        return None
    from omegaconf import OmegaConf

    plain = OmegaConf.to_container(group, resolve=True) if OmegaConf.is_config(group) else group
    if isinstance(plain, Mapping):
        return dict(plain)
    if name == "tdi":
        raise OptionError(f"The run's option tdi is {plain!r}; give a mapping of TDI options.")
    return None  # an option of the module's own that has the name of one of our groups


def asks_for_tdi(pl_module: Any) -> bool:
    """True where the run's config has ``model.layer.init: tdi``, whatever layer came of it."""
    layer = (hparams_group(pl_module, "model") or {}).get("layer")
    return isinstance(layer, Mapping) and layer.get("init") == "tdi"


def reason_to_skip(config: TDIConfig, pl_module: Any) -> str | None:
    """Why the weights that are there must stay, or None."""
    if not config.enabled:
        return "tdi.enabled is false"
    train = hparams_group(pl_module, "train") or {}
    if train.get("ckpt") is not None:
        return "the run resumes from a checkpoint"
    if train.get("pretrained_model_path") is not None:
        return "pretrained weights are loaded"
    return None
