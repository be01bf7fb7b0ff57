"""From a Lightning run and its options to the spectrum that its poles will follow."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import DataError, OptionError, choices
from tdi_plugin.spectrum import TaskSpectrum
from tdi_plugin.spectrum.estimate import spectrum_of_batches
from tdi_plugin.training_data import in_order, split_batch, training_loader, untouched_rng

SOURCES = ("auto", "input", "encoder")
NO_LABELS = "power instead of auto: the task has a target for every sample, and so no labels of series"
REAL_TARGETS = "cross instead of auto: the targets are real numbers, not classes"


def measure(trainer: Any, pl_module: Any, config: TDIConfig) -> TaskSpectrum:
    """The saved spectrum if one is named, else the task spectrum of the run's training series.

    Raises:
        DataError: no series, or series that cannot be measured.
        OptionError: an unknown ``source``.
    """
    if config.spectrum_file is not None:
        return TaskSpectrum.load(config.spectrum_file)
    if config.source not in SOURCES:
        raise OptionError(f"Unknown source {config.source!r}: {choices(config.source, SOURCES)}")
    with untouched_rng(), torch.no_grad():
        batches = in_order(training_loader(trainer))
        statistic, reason = config.statistic, ""
        if statistic == "auto":
            statistic, reason = statistic_for(batches)
        series = _series(batches, pl_module, config.source)
        spectrum = spectrum_of_batches(
            series, statistic=statistic, smoothing=config.smoothing, seed=config.seed
        )
    return spectrum.replaced(reason=reason) if reason else spectrum


def statistic_for(batches: Iterable[Any]) -> tuple[str, str]:
    """What ``auto`` can mean for targets of this kind: a statistic, and the reason if it is another one."""
    for batch in batches:
        _, y, _ = split_batch(batch)
        if y.ndim > 2 or (y.ndim == 2 and y.shape[1] > 1 and not y.is_floating_point()):
            return "power", NO_LABELS
        if y.is_floating_point():
            return "cross", REAL_TARGETS
        break
    return "auto", ""


def _series(batches: Any, pl_module: Any, source: str) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
    grid = 0
    for batch in batches:
        x, y, extras = split_batch(batch)
        tokens = not x.is_floating_point()
        if source == "encoder" or (source == "auto" and tokens):
            x = encoded(pl_module, x, extras)
        elif tokens:
            raise DataError(
                f"The series are {x.dtype} tokens, which have no spectrum of their own: "
                "use tdi.source=encoder."
            )
        y = y.squeeze(-1) if y.ndim == 2 and not y.is_floating_point() else y
        if len(y) < len(x) and len(x) % len(y) == 0:
            # Retrieval: a batch of pairs is the first documents and then the second ones, a label a pair.
            y = y.repeat(len(x) // len(y), *(1 for _ in y.shape[1:]))
        lengths = extras.get("lengths")
        if lengths is not None:
            grid = grid or common_length(batches, pl_module)
            x = torch.nn.functional.pad(x, (0,) * (2 * (x.ndim - 2) + 1) + (max(0, grid - x.shape[1]),))
        yield x, y, lengths


def common_length(batches: Iterable[Any], pl_module: Any) -> int:
    """The grid for batches padded to their own longest series: the l_max of the data set, else counted."""
    declared = getattr(getattr(pl_module, "dataset", None), "l_max", None)
    if isinstance(declared, int) and declared > 0:
        return declared
    return max(split_batch(batch)[0].shape[1] for batch in batches)


def encoded(pl_module: Any, x: Tensor, extras: dict[str, Any]) -> Tensor:
    """(B, L, d_model): what the run's own encoder makes of the input."""
    encoder = getattr(pl_module, "encoder", None)
    if encoder is None:
        raise DataError(
            "tdi.source=encoder needs a LightningModule with an `encoder`; give tdi.spectrum_file instead."
        )
    training = encoder.training
    encoder.eval()
    try:
        # s4's encoders take the batch's extras as keywords; a plain torch module takes the series alone.
        takes_extras = any(
            p.kind is p.VAR_KEYWORD for p in inspect.signature(encoder.forward).parameters.values()
        )
        output = encoder(x, **extras) if takes_extras else encoder(x)
    finally:
        encoder.train(training)
    return output[0] if isinstance(output, tuple) else output
