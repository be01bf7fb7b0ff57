"""Entry points that Lightning calls in every Trainer on the machine: light, silent, never raising."""

from __future__ import annotations

from typing import Any


def _callbacks(package: str) -> list[Any]:
    try:
        from tdi_plugin.s4.process import is_s4_process

        if not is_s4_process():
            return []
    except Exception:
        return []
    try:
        from tdi_plugin.lightning import task_dependent_init_for
        from tdi_plugin.s4.register import register

        register()
        return [task_dependent_init_for(package)(named_only=True)]
    except Exception as error:
        return _refusal(package, error)


def _refusal(package: str, error: Exception) -> list[Any]:
    """A run that asks for ``init: tdi`` must not train without it in silence; any other is let be."""
    import importlib
    import logging

    logging.getLogger("tdi_plugin").warning("init: tdi is not available in this run: %s", error)
    try:
        base: Any = importlib.import_module(package).Callback
    except Exception:
        return []

    def setup(self: Any, trainer: Any, pl_module: Any, stage: str) -> None:
        if any(getattr(module, "init", None) == "tdi" for module in pl_module.modules()):
            raise RuntimeError(f"init: tdi was asked for, but tdi-plugin does not import: {error}") from error

    return [type("TaskDependentInitUnavailable", (base,), {"setup": setup})()]


def pytorch_lightning_callbacks() -> list[Any]:
    """For the ``pytorch_lightning`` package (entry-point group pytorch_lightning.callbacks_factory)."""
    return _callbacks("pytorch_lightning")


def lightning_callbacks() -> list[Any]:
    """For the ``lightning`` package (entry-point group lightning.pytorch.callbacks_factory)."""
    return _callbacks("lightning.pytorch")
