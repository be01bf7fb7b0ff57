"""The callback: before the first step of a fit, measure the task spectrum and place the poles."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import HostError
from tdi_plugin.hosts import Host, find_hosts
from tdi_plugin.init import tdi_
from tdi_plugin.provenance import run_provenance
from tdi_plugin.report import InitReport
from tdi_plugin.run_config import asks_for_tdi, hparams_group, reason_to_skip
from tdi_plugin.run_spectrum import run_spectra
from tdi_plugin.spectrum import TaskSpectrum
from tdi_plugin.training_part import check_batches, limit_training_set

log = logging.getLogger("tdi_plugin")


class TaskDependentInitBody:
    """What ``TaskDependentInit`` does; mixed with the Callback class of whichever Lightning is in use.

    Acts in ``setup(stage="fit")``: the data are ready, the model is on the CPU, no optimiser exists yet,
    and a checkpoint is restored only afterwards. The run's own random numbers are left as they were.

    Args:
        config: a TDIConfig or mapping; None reads the run's ``tdi`` config group (``pl_module.hparams.tdi``).
        named_only: write only layers whose ``init`` is "tdi" (how s4 and the builtin trainer ask for it).
        options: single options, as in ``tdi_``.

    Raises:
        OptionError: unknown option names or values, at construction.
        HostError, DataError: from ``setup``, when the model or the training series cannot be used.
    """

    def __init__(
        self, config: TDIConfig | Mapping[str, Any] | None = None, *, named_only: bool = False, **options: Any
    ) -> None:
        super().__init__()
        self._given = config is not None or bool(options)
        self.config = TDIConfig.of(config, **options)
        self.named_only = named_only
        self.report: InitReport | None = None
        self.spectra: dict[str, TaskSpectrum] = {}
        self.provenance: dict[str, Any] = {}
        self.outcome = "not run"
        self.restored: dict[str, Any] | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage != "fit" or getattr(pl_module, "_tdi_done", False):
            return
        if not self._given:
            self.config = TDIConfig.of(hparams_group(pl_module, "tdi"))
        dataset = getattr(pl_module, "dataset", None)
        limit_training_set(dataset, self.config.train_ratio, self.config.subset_seed)
        check_batches(dataset, hparams_group(pl_module, "loader") or {})
        if self.named_only and not any(is_named(module) for module in pl_module.modules()):
            if self.config.enabled and asks_for_tdi(pl_module):
                refuse_forgotten(find_hosts(pl_module, self.config.layers))
            self.outcome = "off: no layer asks for init: tdi"
            return
        if reason := reason_to_skip(self.config, pl_module):
            pl_module._tdi_done = True
            self.outcome = f"skipped: {reason}"
            log.info("TDI %s", self.outcome)
            return
        where = is_named if self.named_only else None
        hosts = find_hosts(pl_module, self.config.layers, where)
        self.spectra = run_spectra(trainer, pl_module, self.config, hosts)
        self.report = tdi_(pl_module, self.spectra, self.config, where=where)
        pl_module._tdi_done = True
        self.provenance = run_provenance(dataset)
        kept = all(spectrum.abstains for spectrum in self.spectra.values())
        self.outcome = "own poles kept" if kept else "poles placed"
        log.info("TDI %s\n%s", "left the poles as they are" if kept else "placed the poles", self.report)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        if (record := self.record()) is not None:
            for logger in trainer.loggers:
                logger.log_hyperparams({"tdi_result": record})

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        if (record := self.record()) is not None:
            checkpoint["tdi"] = record

    def on_load_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        self.outcome = "restored from checkpoint"
        self.restored = checkpoint.get("tdi")

    def record(self) -> dict[str, Any] | None:
        """Plain values for loggers and checkpoints: all that was done; None if TDI was off."""
        if self.outcome == "not run" or self.outcome.startswith("off"):
            return None
        if self.restored is not None:
            return {**self.restored, "outcome": self.outcome}
        record: dict[str, Any] = {"outcome": self.outcome, "config": self.config.as_dict()}
        if self.report is not None:
            record["spectra"] = {name: spectrum.as_dict() for name, spectrum in self.spectra.items()}
            record["layers"] = self.report.as_dict()["layers"]
            record["provenance"] = self.provenance
        return record


def is_named(module: Any) -> bool:
    """True for a kernel that was built with ``init: tdi``."""
    return getattr(module, "init", None) == "tdi"


def refuse_forgotten(hosts: list[Host]) -> None:
    """Kernels of a run that asks for ``init: tdi``, none of which says that it was built with it."""
    raise HostError(
        f"The run has model.layer.init=tdi, but {hosts[0].name} does not keep its init in the attribute "
        "'init': no layer shows what it was built with. Expected the kernels of s4 v4 (commit e757cef)."
    )


@cache
def task_dependent_init_for(package: str) -> type:
    """The callback class for ``pytorch_lightning`` or ``lightning.pytorch``, whichever the run uses."""
    import importlib

    base = importlib.import_module(package).Callback
    namespace = {"__doc__": TaskDependentInitBody.__doc__, "__module__": __name__}
    return type("TaskDependentInit", (TaskDependentInitBody, base), namespace)


def __getattr__(name: str) -> Any:
    if name != "TaskDependentInit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    unified = "lightning.pytorch" in sys.modules and "pytorch_lightning" not in sys.modules
    cls = task_dependent_init_for("lightning.pytorch" if unified else "pytorch_lightning")
    globals()[name] = cls
    return cls
