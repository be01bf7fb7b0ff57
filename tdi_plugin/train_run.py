"""One run on the builtin trainer, of a config that is composed."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

from tdi_plugin._optional import require
from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.provenance import run_provenance


def run(config: dict[str, Any], folder: Path) -> dict[str, float]:
    """Train as the composed ``config`` says, writing csv/metrics.csv and checkpoints to ``folder``.

    Returns:
        The metrics of the last epoch: train/, val/ and test/ loss and accuracy (or mse).
    """
    import pytorch_lightning as pl

    from tdi_plugin.lightning import task_dependent_init_for
    from tdi_plugin.lit import BuiltinModule

    ckpt = config["train"]["ckpt"]
    if ckpt not in (None, "last", "hpc") and "://" not in ckpt and not Path(ckpt).exists():
        raise DataError(
            f"No checkpoint at train.ckpt={ckpt}; expected a file, e.g. RUN/checkpoints/last.ckpt."
        )
    if not isinstance(config.get("wandb") or {}, dict):
        raise OptionError(f"wandb={config['wandb']!r}; expected a mapping, e.g. wandb='{{project: tdi}}'.")
    for name in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
    pl.seed_everything(config["train"]["seed"])
    module = BuiltinModule(config)
    callback = task_dependent_init_for("pytorch_lightning")(named_only=True)
    checkpoint = pl.callbacks.ModelCheckpoint(
        folder / "checkpoints",
        monitor=config["train"]["monitor"],
        mode=config["train"]["mode"],
        save_last=True,
    )
    progress = pl.callbacks.RichProgressBar() if sys.stderr.isatty() else None
    trainer = pl.Trainer(
        logger=loggers(config, folder),
        callbacks=[c for c in (callback, checkpoint, progress) if c is not None],
        enable_progress_bar=progress is not None,
        default_root_dir=folder,
        **config["trainer"],
    )
    for logger in trainer.loggers:
        logger.log_hyperparams({"config": config, "provenance": run_provenance(module.dataset)})
    trainer.fit(module, ckpt_path=ckpt)
    metrics = {k: float(v) for k, v in trainer.callback_metrics.items()}
    if trainer.is_global_zero:
        show(config, module, callback, metrics, folder)
    return metrics


def loggers(config: dict[str, Any], folder: Path) -> list[Any]:
    """CSV always; Weights & Biases when the config has a ``wandb`` group."""
    from pytorch_lightning.loggers import CSVLogger, WandbLogger

    chosen: list[Any] = [CSVLogger(folder, name="csv", version="")]
    if config.get("wandb"):
        require("wandb", extra="wandb", for_="wandb={...}")
        options = dict(config["wandb"])
        offline = options.pop("mode", "online") == "offline"
        chosen.append(WandbLogger(save_dir=folder, offline=offline, config=config, **options))
    return chosen


def show(config: dict[str, Any], module: Any, callback: Any, metrics: dict[str, float], folder: Path) -> None:
    """The final table on the terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(show_header=False)
    table.add_row("data", config["dataset"].get("name", config["dataset"]["_name_"]))
    table.add_row("training series", str(len(module.dataset.dataset_train)))
    table.add_row("init", f"{config['model']['layer']['init']} ({callback.outcome})")
    for name in sorted(metrics):
        table.add_row(name, f"{metrics[name]:.4f}")
    table.add_row("folder", str(folder))
    console.print(table)
