"""The builtin trainer's LightningModule: s4's config keys and attribute names, on our model and data."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from tdi_plugin.data import build, collate
from tdi_plugin.errors import OptionError, check_options, choices
from tdi_plugin.nn import SequenceClassifier, SequenceModel

SCHEDULERS = ("cosine", "constant")
DATA_OF_S4 = ("aan", "cifar", "imdb", "pathfinder")
Batch = tuple[Tensor, Tensor, dict[str, Any]]


class BuiltinModule(pl.LightningModule):
    """A classifier or regressor with ``dataset`` and ``encoder`` where s4's module has them.

    Args:
        config: the composed experiment as plain nested mappings (dataset, encoder, model, decoder, loader,
            optimizer, scheduler, task, train, tdi).

    Raises:
        OptionError: a name or an option that the builtin trainer does not have.
        DataError: the data set cannot be read.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.save_hyperparameters(config, logger=False)
        refuse_data_of_s4(config["dataset"]["_name_"])
        self.dataset = build(**config["dataset"])
        self.dataset.setup()
        model = {k: v for k, v in config["model"].items() if k not in ("_name_", "layer", "d_model")}
        check_options("The builtin model", model, SequenceModel)
        self.network = SequenceClassifier(
            self.dataset.d_input or self.dataset.n_tokens or 1,
            self.dataset.d_output,
            encoder=config["encoder"],
            decoder=config["decoder"]["mode"],
            d_model=config["model"]["d_model"],
            layer=config["model"]["layer"],
            **model,
        )
        self.regression = config["task"]["loss"] == "mse"

    @property
    def encoder(self) -> nn.Module:
        """The module between series and backbone, under s4's name for it."""
        return self.network.encoder

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(B, L, d_input) floats or (B, L) tokens to (B, d_output)."""
        return self.network(x, lengths)

    def _step(self, batch: Batch, *prefixes: str) -> Tensor:
        x, y, extras = batch
        output = self(x, extras.get("lengths"))
        values: dict[str, Tensor] = {}
        if self.regression:
            loss = F.mse_loss(output, y.reshape(output.shape))
            values["mse"] = loss
        else:
            loss = F.cross_entropy(output, y)
            values["accuracy"] = (output.argmax(-1) == y).float().mean()
        values["loss"] = loss
        self.log_dict(
            {f"{prefix}/{k}": v for prefix in prefixes for k, v in values.items()},
            on_step=False,
            on_epoch=True,
            prog_bar="test" in prefixes,
            batch_size=len(y),
            sync_dist=True,
            add_dataloader_idx=False,
        )
        return loss

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        return self._step(batch, "train")

    def validation_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        names = (("val", "test"),) if self._validates_on_test else (("val",), ("test",))
        self._step(batch, *names[dataloader_idx])

    @property
    def _validates_on_test(self) -> bool:
        return self.dataset.dataset_val is self.dataset.dataset_test

    def train_dataloader(self) -> DataLoader[Any]:
        return self._loader(self.dataset.dataset_train, shuffle=True)

    def val_dataloader(self) -> list[DataLoader[Any]]:
        """Validation and test series, both after every epoch as s4 does."""
        sets = [self.dataset.dataset_val, self.dataset.dataset_test][self._validates_on_test :]
        return [self._loader(series, drop_last=False) for series in sets]

    def _loader(self, series: Any, **options: Any) -> DataLoader[Any]:
        return DataLoader(series, collate_fn=collate, **{**self.hparams["loader"], **options})

    def configure_optimizers(self) -> Any:
        """AdamW with s4's parameter groups: ``_optim`` of a parameter overrides the optimiser's."""
        exempt_from_decay(self)
        options = {k: v for k, v in self.hparams["optimizer"].items() if k != "_name_"}
        groups: dict[tuple[Any, ...], list[nn.Parameter]] = {}
        for parameter in self.parameters():
            own = tuple(sorted(getattr(parameter, "_optim", {}).items()))
            groups.setdefault(own, []).append(parameter)
        optimizer = torch.optim.AdamW([{"params": p, **dict(own)} for own, p in groups.items()], **options)
        scheduler = dict(self.hparams["scheduler"])
        name = scheduler.pop("_name_")
        if name not in SCHEDULERS:
            raise OptionError(f"The builtin trainer has no scheduler {name!r}: {choices(name, SCHEDULERS)}")
        if name == "constant":
            return optimizer
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, **scheduler)]


def refuse_data_of_s4(name: str) -> None:
    """Say where an experiment on one of s4's own data sets does run.

    Raises:
        OptionError: for those names.
    """
    if name in DATA_OF_S4:
        raise OptionError(
            f"Data set {name!r} is state-spaces/s4's own, not in the builtin trainer; expected one "
            "whose name begins with tdi_. Run the same experiment in s4: tdi s4 train PATH experiment=..."
        )


def exempt_from_decay(model: nn.Module) -> None:
    """No weight decay for biases, norms and embeddings, as s4 has it; other ``_optim`` entries stay."""
    for module in model.modules():
        whole = isinstance(module, nn.Embedding | nn.LayerNorm | nn.BatchNorm1d)
        for name, parameter in module.named_parameters(recurse=False):
            if whole or name.endswith("bias"):
                parameter._optim = {"weight_decay": 0.0}  # type: ignore[attr-defined]
