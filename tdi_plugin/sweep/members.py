"""The models of one seed, one an arm: equal in every weight but the poles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import DataError
from tdi_plugin.hosts import find_hosts
from tdi_plugin.init import tdi_
from tdi_plugin.refine import refine_
from tdi_plugin.spectrum import TaskSpectrum, task_spectrum
from tdi_plugin.sweep.arms import Arm
from tdi_plugin.sweep.group_data import Split
from tdi_plugin.sweep.models import Build

POLE_PARAMETERS = ("A_real", "A_imag", "B")


def member(
    build: Build, arm: Arm, train: Split, seed: int, defaults: Mapping[str, Any]
) -> tuple[nn.Module, dict[str, Any]]:
    """The arm's model for a seed, and what was measured and placed.

    Args:
        build: (seed, init) to a model.
        arm: how to set its poles.
        train: the run's training series, all that a spectrum may see.
        seed: of the weights, and of shuffled labels and sampled allocation.
        defaults: TDI options laid under the arm's.
    """
    model = build(seed, "diag-lin")
    if arm.init != "diag-lin":
        copy_poles(build(seed, arm.init), model)
    if arm.alpha != 1.0:
        for host in find_hosts(model):
            host.write(poles=torch.complex(host.poles.real, arm.alpha * host.poles.imag))
    if arm.step == "autocorrelation":
        for host in find_hosts(model)[:1]:
            host.write(
                dt=centred_steps(host.dt, -host.poles.real.mean().item(), autocorrelation_time(train.x))
            )
    config = arm.config(defaults)
    if config is None:
        return model, {}
    spectrum = arm_spectrum(arm, config, model, train, seed)
    report = tdi_(model, spectrum, config, seed=seed)
    if arm.refine is not None:
        refine_(model, spectrum, **arm.refine)
    frequencies = report.layers[0].frequencies if report.layers else torch.zeros(0)
    placed = (
        [float(f"{q:.4g}") for q in frequencies.flatten().quantile(_QUARTILES)] if frequencies.numel() else []
    )
    return model, {
        "statistic": spectrum.statistic, "reason": spectrum.reason, "abstains": spectrum.abstains,
        "frequency_quartiles": placed,
    }  # fmt: skip


_QUARTILES = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0], dtype=torch.float64)


def arm_spectrum(arm: Arm, config: TDIConfig, model: nn.Module, train: Split, seed: int) -> TaskSpectrum:
    """The TaskSpectrum that the arm's poles follow: of the task, of shuffled labels, or flat."""
    if arm.spectrum == "flat":
        length = train.x.shape[1]
        return TaskSpectrum(torch.ones(length // 2 + 1), length, "flat", n_series=len(train))
    y = train.y
    if arm.labels == "shuffled":
        y = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))]
    x = train.x
    if not x.is_floating_point():
        with torch.no_grad():
            x = model.encode(x)  # type: ignore[operator]
    return task_spectrum(x, y, statistic=config.statistic, smoothing=config.smoothing, seed=seed)


def copy_poles(source: nn.Module, target: nn.Module) -> None:
    """Copy A and B of every state-space kernel, so that nothing else depends on the initialisation's name."""
    values = source.state_dict()
    with torch.no_grad():
        for name, tensor in target.state_dict().items():
            if name.rpartition(".")[2] in POLE_PARAMETERS:
                tensor.copy_(values[name])


def autocorrelation_time(x: Tensor) -> float:
    """Lag in samples at which the mean autocorrelation of series x (n, L, D) first falls below 1/e.

    Raises:
        DataError: tokens, or series that are constant.
    """
    if not x.is_floating_point():
        raise DataError(
            f"Autocorrelation needs real series; {x.dtype} tokens came. Leave out the autocorrelation arm."
        )
    centred = (x - x.mean(dim=1, keepdim=True)).double()
    spectrum = torch.fft.rfft(centred, n=2 * x.shape[1], dim=1).abs().square().mean(dim=(0, 2))
    correlation = torch.fft.irfft(spectrum)[: x.shape[1]]
    if correlation[0] <= 0:
        raise DataError(
            "The training series are constant, so they have no autocorrelation time; check the data."
        )
    below = (correlation / correlation[0] < math.exp(-1)).nonzero()
    return float(below[0]) if len(below) else float(x.shape[1])


def centred_steps(dt: Tensor, damping: float, time: float) -> Tensor:
    """The step sizes, spread as they are, scaled to a typical decay time 1/(damping·dt) of ``time``."""
    return dt * (1.0 / (damping * time)) / dt.log().mean().exp()
