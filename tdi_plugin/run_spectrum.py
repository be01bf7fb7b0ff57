"""From a Lightning run and its options to the spectra that its poles will follow."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.utils.data import DataLoader

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import DataError
from tdi_plugin.hosts import Host
from tdi_plugin.spectrum import TaskSpectrum
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.spectrum.source import spectra_at
from tdi_plugin.training_data import (
    batches_of_stream,
    in_order,
    some_of,
    split_batch,
    training_loader,
    untouched_rng,
)

MOST_THROUGH_MODEL = 4096
"""Series measured inside the model at most: each has d_model channels, and time goes with them."""
NO_LABELS = "power instead of auto: the task has a target for every sample, and so no labels of series"
REAL_TARGETS = "cross instead of auto: the targets are real numbers, not classes"


def run_spectra(
    trainer: Any, pl_module: Any, config: TDIConfig, hosts: Sequence[Host]
) -> dict[str, TaskSpectrum]:
    """The spectrum of each layer that will be written, by its name: of a file, or of the training series.

    Args:
        trainer: of the run; its training loader is read once, in order.
        pl_module: of the run; left as it was.
        config: ``source``, ``statistic``, ``smoothing``, ``spectrum_file`` and ``seed`` are used.
        hosts: the layers.

    Raises:
        DataError: no series, or series that cannot be measured.
    """
    if config.spectrum_file is not None:
        # s4 runs a job in a folder of its own; a relative path is meant from where the command was given.
        from hydra.utils import to_absolute_path

        saved = TaskSpectrum.load(to_absolute_path(config.spectrum_file))
        return dict.fromkeys((host.name for host in hosts), saved)
    with untouched_rng(), torch.no_grad():
        loader = in_order(training_loader(trainer))
        series = RunSeries(loader, pl_module, batches_of_stream(trainer, loader))
        statistic, reason = series.statistic(config.statistic)
        options = {"statistic": statistic, "smoothing": config.smoothing, "seed": config.seed}
        found = series.spectra(config.source, hosts, options)
    return {name: s.replaced(reason=reason) if reason else s for name, s in found.items()}


class RunSeries:
    """The batches of a run as (x, y, lengths), and the run's own forward pass on the latest of them."""

    def __init__(self, loader: DataLoader[Any], pl_module: Any, most: int | None = None) -> None:
        self.loader, self.module, self.most = loader, pl_module, most
        if (first := next(iter(loader), None)) is None:
            raise DataError("The train loader gave no batch; check the training series.")
        self.first, labels, _ = split_batch(first)
        self.labels = without_one_hot(labels, self.first)
        self.length: int | None = None
        self.batch: tuple[Any, ...] = ()

    def statistic(self, asked: str) -> tuple[str, str]:
        """What ``auto`` can mean for targets of this kind, and the reason if that settles it."""
        y = self.labels
        if asked != "auto":
            return asked, ""
        if y.ndim > 2 or (y.ndim == 2 and y.shape[1] > 1 and not y.is_floating_point()):
            return "power", NO_LABELS
        return ("cross", REAL_TARGETS) if y.is_floating_point() else ("auto", "")

    def spectra(self, source: str, hosts: Sequence[Host], options: dict[str, Any]) -> dict[str, TaskSpectrum]:
        """Measure at the source: the input, the encoder's output, or the input of each layer."""
        tokens = not self.first.is_floating_point()
        names = [host.name for host in hosts]
        if source == "auto":
            source = "encoder" if tokens else "input"
        if source == "input":
            if tokens:
                raise DataError(
                    f"The series are {self.first.dtype} tokens, which have no spectrum of their own: "
                    "use tdi.source=encoder or tdi.source=layer."
                )
            return dict.fromkeys(names, spectrum_of_batches(self, **options))
        self.loader = some_of(self.loader, MOST_THROUGH_MODEL, options["seed"])
        if source == "layer":
            # A kernel takes no series itself: the module that holds it does.
            owners = {name: self.module.get_submodule(name.rpartition(".")[0]) for name in names}
            return spectra_at(self.module, owners, self, "input", self.forward, **options)
        if (encoder := getattr(self.module, "encoder", None)) is None:
            raise DataError(
                "tdi.source=encoder needs a LightningModule with an `encoder`; use tdi.source=layer, or give "
                "tdi.spectrum_file."
            )
        places = {"encoder": encoder}
        found = spectra_at(self.module, places, self, "output", self.forward, "time first", **options)
        return dict.fromkeys(names, found["encoder"])

    def forward(self, x: Tensor) -> Any:
        """The run's module on the latest batch: s4's takes the batch whole, others the series."""
        taken = inspect.signature(self.module.forward).parameters
        return self.module(self.batch) if "batch" in taken else self.module(x)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        for batch in self._batches():
            x, y, extras = split_batch(batch)
            if (lengths := extras.get("lengths")) is not None:
                x = pad(x, (0,) * (2 * (x.ndim - 2) + 1) + (max(0, self._grid() - x.shape[1]),))
            self.batch = (x, y, extras)
            y = without_one_hot(y, x)
            y = y.squeeze(-1) if y.ndim == 2 and not y.is_floating_point() else y
            if len(y) < len(x) and len(x) % len(y) == 0:
                # Retrieval: a batch of pairs is the first documents, then the second ones; a label a pair.
                y = y.repeat(len(x) // len(y), *(1 for _ in y.shape[1:]))
            yield x, y, lengths

    def _batches(self) -> Iterator[Any]:
        return islice(self.loader, self.most)

    def _grid(self) -> int:
        """The length for batches padded to their own longest series: l_max of the data set, else counted."""
        if self.length is None:
            declared = getattr(getattr(self.module, "dataset", None), "l_max", None)
            if isinstance(declared, int) and declared > 0:
                self.length = declared
            else:
                self.length = max(split_batch(b)[0].shape[1] for b in self._batches())
        return self.length


def without_one_hot(y: Tensor, x: Tensor) -> Tensor:
    """Class numbers of integer or boolean one-hot labels (B, C); others as they are."""
    if y.ndim != 2 or y.shape[1] in (1, x.shape[1]) or y.is_floating_point():
        return y
    one_hot = ((y == 0) | (y == 1)).all() and (y.sum(dim=1) == 1).all()
    return y.long().argmax(dim=1) if one_hot else y
