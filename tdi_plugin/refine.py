"""Spectral matching of a model's layers to a task spectrum, for one-layer and kernel studies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tdi_plugin.errors import HostError, OptionError
from tdi_plugin.hosts import Host, find_hosts
from tdi_plugin.hosts.registry import select
from tdi_plugin.kernel.alignment import alignment
from tdi_plugin.poles.matching import Variables, spectral_loss
from tdi_plugin.poles.placement import HIGHEST, damping_of, frequencies_of
from tdi_plugin.poles.response import impulse_response, weights_of
from tdi_plugin.poles.tying import group_mean, grouped
from tdi_plugin.spectrum.value import TaskSpectrum

MISMATCH = 1e-2


@dataclass(frozen=True)
class RefinedLayer:
    """Spectral matching of one layer."""

    name: str
    curve: Tensor
    """(steps + 1,) L_spec from the start on; the point of the smallest value was written."""
    frequencies: Tensor
    """(S, P) cycles/sample afterwards."""
    damping: Tensor
    """(S, P) per sample afterwards."""
    alignment: tuple[float, float]
    """J / sum(eta) before and after: exact where C_uY was given; else the mean of the task's density (times
    the number of frequencies, so that a flat response has 1) under the normalised |H|^2."""

    @property
    def loss(self) -> tuple[float, float]:
        """L_spec before and after."""
        return float(self.curve[0]), float(self.curve.min())


@dataclass(frozen=True)
class RefineReport:
    """The outcome of ``refine_``; ``str`` gives a readable table."""

    layers: tuple[RefinedLayer, ...]
    kind: str

    def __str__(self) -> str:
        if not self.layers:
            return "spectral matching: no layer was changed, because the spectrum abstains"
        lines = [f"spectral matching ({self.kind}): L_spec and J / sum(eta), before -> after"]
        for layer in self.layers:
            (a, b), (j, k) = layer.loss, layer.alignment
            lines.append(f"{layer.name or '(model)'}  {a:.4g} -> {b:.4g}  {j:.4g} -> {k:.4g}")
        return "\n".join(lines)


def refine_(
    model: nn.Module,
    spectrum: TaskSpectrum,
    *,
    loss: str = "squared",
    steps: int = 300,
    rate: float = 0.02,
    layers: str | Sequence[int] = "first",
    cross_covariance: Tensor | None = None,
    hosts: Sequence[Host] | None = None,
) -> RefineReport:
    """Minimise L_spec between a layer's |H(w)|^2 and the task spectrum over its poles, dt and C, in place.

    |H|^2 is that of the first L samples of the kernel, averaged over channels; both sides are scaled to sum
    one without DC. Adam runs in float64 on coordinates of its own (log damping, logit of the frequency, log
    dt, C); the best point of the curve is written once, and read back.

    Args:
        model: holds the layers.
        spectrum: the task's; its length L is that of the responses. One that abstains changes nothing.
        loss: squared, cosine or kl.
        steps: of Adam.
        rate: of Adam.
        layers: first, all, or positions.
        cross_covariance: (L,) or (L, d) C_uY, for the exact J / sum(eta) in the report.
        hosts: the layers to choose from, where they were already found.

    Raises:
        HostError: a layer that cannot be written, or whose kernel isn't that of its poles (disc="dss").
        OptionError: an unknown loss, fewer than one step.
    """
    if not isinstance(steps, int) or steps < 1 or not 0 < rate < math.inf:
        raise OptionError(
            f"steps={steps!r}, rate={rate!r}: a whole number of steps, at least one, at a positive, "
            "finite rate is needed."
        )
    chosen = find_hosts(model, layers) if hosts is None else select(list(hosts), layers)
    spectral_loss(spectrum.density, spectrum.density, loss)
    if spectrum.abstains:
        return RefineReport((), loss)
    for host in chosen:
        _check_closed_form(host, spectrum.length)
    done = [_refine(h, spectrum, loss, steps, rate, cross_covariance) for h in chosen]
    return RefineReport(tuple(done), loss)


def _refine(
    host: Host, spectrum: TaskSpectrum, kind: str, steps: int, rate: float, cross: Tensor | None
) -> RefinedLayer:
    length, density, disc = spectrum.length, spectrum.density, host.disc
    before = _alignment(host, spectrum, cross)
    poles, dt = host.poles, host.dt
    step = group_mean(dt, poles.shape[0])
    free = Variables.of(
        frequencies_of(poles, step, disc), damping_of(poles, step, disc), dt, weights_of(host), step
    )
    leaves = free.leaves()
    optimiser = torch.optim.Adam(leaves, lr=rate)
    curve, best, kept = [], float("inf"), [leaf.detach().clone() for leaf in leaves]
    with torch.enable_grad():
        for _ in range(steps + 1):
            value = spectral_loss(free.response(disc, length).abs().square(), density, kind)
            curve.append(float(value.detach()))
            if curve[-1] < best:
                best, kept = curve[-1], [leaf.detach().clone() for leaf in leaves]
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
    with torch.no_grad():
        for leaf, saved in zip(leaves, kept, strict=True):
            leaf.copy_(saved)
        poles, dt, weights = _without_aliasing(*free.layer(disc), disc)
        b = host.input.repeat(dt.shape[0] // poles.shape[0], 1)
        host.write(poles=poles, dt=dt, output=weights / b)
    after = _alignment(host, spectrum, cross)
    f, d = frequencies_of(poles, step, disc), damping_of(poles, step, disc)
    return RefinedLayer(host.name, torch.tensor(curve, dtype=torch.float64), f, d, (before, after))


def _without_aliasing(poles: Tensor, dt: Tensor, weights: Tensor, disc: str) -> tuple[Tensor, Tensor, Tensor]:
    """Under zero-order hold, hold dt |Im A| < pi for the widest step of every tied group."""
    if disc == "zoh":
        lowest = -2 * torch.pi * HIGHEST / grouped(dt, poles.shape[0]).amax(0)
        poles = torch.complex(poles.real, torch.maximum(poles.imag, lowest.expand_as(poles.imag)))
    return poles, dt, weights


def _alignment(host: Host, spectrum: TaskSpectrum, cross: Tensor | None) -> float:
    kernel = host.kernel(spectrum.length).detach().to("cpu", torch.float64)
    if cross is not None:
        return alignment(kernel, cross, normalise=True)
    power = torch.fft.rfft(kernel).abs().square().flatten(0, -2).mean(0)[1:]
    density = spectrum.density[1:]
    return float(power @ density / power.sum() * density.numel())


def _check_closed_form(host: Host, length: int) -> None:
    expected = impulse_response(host, length)
    own = host.kernel(length).detach().to("cpu", torch.float64)
    error = ((own - expected).abs().max() / expected.abs().max()).item()
    if not error <= MISMATCH:
        raise HostError(
            f"The kernel of {host.name or 'the model'} differs by {error:.2g} (relative) from that "
            "of its poles, dt, B and C: it has a gain of its own (disc='dss'), or masks some poles "
            "(bandlimit). Spectral matching needs disc='zoh' or 'bilinear' and no bandlimit."
        )
