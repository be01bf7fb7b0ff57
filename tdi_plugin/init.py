"""The whole road, in place: from a task spectrum to the poles of a model's layers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.hosts import Host, find_hosts
from tdi_plugin.placing import plan_layer
from tdi_plugin.report import InitReport
from tdi_plugin.spectrum.value import TaskSpectrum

log = logging.getLogger("tdi_plugin")

Spectra = TaskSpectrum | Sequence[TaskSpectrum] | Mapping[Any, TaskSpectrum]


@torch.no_grad()
def tdi_(
    model: nn.Module,
    spectrum: Spectra | None,
    config: TDIConfig | Mapping[str, Any] | None = None,
    *,
    where: Callable[[nn.Module], bool] | None = None,
    **options: Any,
) -> InitReport:
    """Put the poles of a model's state-space layers where the task's spectrum is, in place.

    Parameters are written with ``copy_``: none is added, removed, resized or replaced. What is written is
    read back through the layer's own accessor. The global random stream is not touched.

    Args:
        model: any module that holds state-space layers.
        spectrum: one TaskSpectrum for all chosen layers; or a sequence, one a chosen layer in order; or a
            mapping from layer names or positions. None reads the option ``spectrum_file``.
        config: options as a TDIConfig or mapping; None for the defaults.
        where: only kernels for which this holds count, in ``layers`` and otherwise.
        options: single options, over ``config``.

    Returns:
        What was done, a layer at a time.

    Raises:
        HostError: no layer that can be written, or one that does not give back what was written.
        OptionError: an unknown option or value.
        DataError: a spectrum that is missing or cannot be used.
    """
    settings = TDIConfig.of(config, **options)
    if not settings.enabled:
        return InitReport((), settings.as_dict())
    chosen = find_hosts(model, settings.layers, where)
    spectra = _spectra(chosen, spectrum, settings)
    plans = [plan_layer(host, own, settings) for host, own in zip(chosen, spectra, strict=True)]
    for host, plan in zip(chosen, plans, strict=True):
        if plan.poles is not None:
            host.write(poles=plan.poles, dt=plan.dt, output=plan.output)
    report = InitReport(
        tuple(plan.report for plan in plans),
        settings.as_dict(),
        tuple(_fast_kernels(model)) if settings.fast_kernel else (),
    )
    for layer in report.layers:
        for note in layer.notes:
            log.info("%s: %s (%d distinct frequencies)", layer.name, note, layer.distinct_frequencies)
    return report


def _fast_kernels(model: nn.Module) -> list[str]:
    from tdi_plugin.hosts.fast import use_fast_kernels

    names = use_fast_kernels(model)
    log.info("fast_kernel: the factored product serves %s", ", ".join(names) or "no further layer")
    return names


def _spectra(hosts: Sequence[Host], given: Spectra | None, config: TDIConfig) -> list[TaskSpectrum]:
    if given is None:
        if config.spectrum_file is None:
            raise DataError(
                "No task spectrum was given; pass one, or name a saved one with spectrum_file=..."
            )
        given = TaskSpectrum.load(config.spectrum_file)
    if isinstance(given, TaskSpectrum):
        return [given] * len(hosts)
    if isinstance(given, Mapping):
        if other := [type(s).__name__ for s in given.values() if not isinstance(s, TaskSpectrum)]:
            raise DataError(f"The mapping of spectra holds a {other[0]}; give a TaskSpectrum for each layer.")
        missing = [h.name for i, h in enumerate(hosts) if h.name not in given and i not in given]
        if missing:
            raise OptionError(
                f"No spectrum was given for {', '.join(missing)}; the mapping has "
                f"{', '.join(map(str, given))}."
            )
        return [given[h.name] if h.name in given else given[i] for i, h in enumerate(hosts)]
    if not (isinstance(given, Sequence) and all(isinstance(s, TaskSpectrum) for s in given)):
        raise DataError(
            f"spectrum is a {type(given).__name__}; pass a TaskSpectrum, or a sequence or mapping of them."
        )
    if len(given) != len(hosts):
        raise OptionError(
            f"{len(given)} spectra were given for {len(hosts)} layers; give one a layer, or a single one "
            "for all."
        )
    return list(given)
