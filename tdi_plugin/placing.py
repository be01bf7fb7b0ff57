"""The poles of one layer, worked out before anything is written."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tdi_plugin.config import TDIConfig
from tdi_plugin.errors import HostError
from tdi_plugin.hosts import Host
from tdi_plugin.poles.allocation import allocate
from tdi_plugin.poles.damping import constant_damping, host_damping, width_damping
from tdi_plugin.poles.density import below, resample_density
from tdi_plugin.poles.placement import HIGHEST, NYQUIST_MARGIN, damping_of, frequencies_of, place
from tdi_plugin.poles.share import task_mask
from tdi_plugin.poles.tying import group_mean, grouped, is_uneven, spread_damping
from tdi_plugin.report import LayerReport
from tdi_plugin.spectrum.value import TaskSpectrum


@dataclass(frozen=True)
class Plan:
    """What to write into a host (None: leave as it is), and the report that goes with it."""

    poles: Tensor | None
    dt: Tensor | None
    output: Tensor | None
    report: LayerReport


def plan_layer(host: Host, spectrum: TaskSpectrum, config: TDIConfig) -> Plan:
    """Allocation, tying, damping and placement for one layer; reads the host, writes nothing.

    Raises:
        HostError: tied poles with unequal step sizes under tied="refuse".
        OptionError, DataError: options or a spectrum that cannot be used.
    """
    if spectrum.abstains:
        return _unchanged(host, spectrum)
    present, dt, notes = host.poles, host.dt, list[str]()
    rows, pairs = present.shape
    density, length = _density(host, spectrum, notes)
    generator = torch.Generator().manual_seed(config.seed)
    asked = allocate(
        density, length, rows, pairs, config.allocation, config.temper, config.floor, config.spacing,
        generator
    )  # fmt: skip
    asked = asked.clamp(max=min(HIGHEST, host.highest * (1 - NYQUIST_MARGIN)))

    uneven = is_uneven(dt, rows)
    tying = "untied" if dt.shape[0] == rows else config.tied if uneven else "equal"
    if tying == "refuse":
        raise HostError(
            f"{host.name or 'The model'} shares {rows} rows of poles among {dt.shape[0]} channels "
            "of different step size, so no row has one frequency. Set n_ssm to d_model (one row a channel), "
            "or tied='equal' or 'keep'."
        )
    step = group_mean(dt, rows)
    new_dt = step.repeat(dt.shape[0] // rows, 1) if uneven and tying == "equal" else None
    output = host.output * (dt / new_dt) if new_dt is not None else None
    if new_dt is not None:
        notes.append(_equal_note(dt, step, rows, pairs))
    elif tying == "keep":
        asked = _kept(asked, dt, step, rows, host.disc, notes)

    # Under the bilinear rule -Re A is no decay rate once a pole is prewarped; the discrete pole's decay is.
    rates = -present.real if host.disc == "zoh" else damping_of(present, step, host.disc) / step
    damping = _damping(config, density, length, asked, rates, dt, step, spread=new_dt is not None)
    mask = task_mask(rows, pairs, config.share, config.share_over)
    wanted = place(asked, damping, step, host.disc)
    if config.damping == "host" and new_dt is None and host.disc == "zoh":
        wanted = torch.complex(present.real, wanted.imag)  # not even the last bit of A_real changes
    poles = torch.where(mask, wanted, present)
    after = dt if new_dt is None else new_dt
    frequencies = torch.where(mask, asked, frequencies_of(present, step, host.disc))
    report = LayerReport(
        name=host.name, host=host.kind, frequencies=frequencies,
        damping=torch.where(mask, damping, damping_of(present, step, host.disc)),
        dt=after[:, 0] if after.shape[1] == 1 else after, task=mask, n_ssm=rows, tied=rows < dt.shape[0],
        tying=tying, distinct_frequencies=_distinct(poles, after, host.disc), statistic=spectrum.statistic,
        notes=tuple(notes),
    )  # fmt: skip
    return Plan(poles, new_dt, output, report)


def _unchanged(host: Host, spectrum: TaskSpectrum) -> Plan:
    poles, dt = host.poles, host.dt
    rows, tied = poles.shape[0], poles.shape[0] < dt.shape[0]
    step = group_mean(dt, rows)
    report = LayerReport(
        name=host.name, host=host.kind, frequencies=frequencies_of(poles, step, host.disc),
        damping=damping_of(poles, step, host.disc), dt=dt[:, 0] if dt.shape[1] == 1 else dt,
        task=torch.zeros(poles.shape, dtype=torch.bool), n_ssm=rows, tied=tied,
        tying="keep" if tied else "untied", distinct_frequencies=_distinct(poles, dt, host.disc),
        statistic=spectrum.statistic, notes=(spectrum.reason,),
    )  # fmt: skip
    return Plan(None, None, None, report)


def _density(host: Host, spectrum: TaskSpectrum, notes: list[str]) -> tuple[Tensor, int]:
    density, length = spectrum.density, spectrum.length
    if host.length is not None and host.length != length and host.length >= 2:
        density = resample_density(density, length, host.length)
        notes.append(f"the spectrum of length {length} was resampled to the layer's l_max = {host.length}")
        length = host.length
    if host.highest < 0.5:
        density = below(density, length, host.highest)
        notes.append(
            f"frequencies from {host.highest:.4g} on are silenced by the layer's bandlimit and were left out"
        )
    return density, length


def _damping(
    config: TDIConfig,
    density: Tensor,
    length: int,
    f: Tensor,
    real: Tensor,
    dt: Tensor,
    step: Tensor,
    spread: bool,
) -> Tensor:
    if config.damping == "host":
        rows = real.shape[0]
        return spread_damping(real, dt, rows) if spread else host_damping(real, step).expand_as(f)
    if config.damping == "width":
        return width_damping(density, length, f)
    return constant_damping(config.damping, f)  # type: ignore[arg-type]


def _kept(asked: Tensor, dt: Tensor, step: Tensor, rows: int, disc: str, notes: list[str]) -> Tensor:
    ratio = grouped(dt, rows) / step
    notes.append(
        "step sizes were kept: a channel resonates at the asked frequency times its dt over the group's "
        f"mean, {ratio.min():.3g} to {ratio.max():.3g} times"
    )
    if disc == "bilinear":  # maps every pole below 1/2
        return asked
    limit = (HIGHEST / ratio.amax(0)).expand_as(asked)
    if held := int((asked > limit).sum()):
        notes.append(f"{held} frequencies were lowered so that no channel's resonance passes 1/2")
    return torch.minimum(asked, limit)


def _equal_note(dt: Tensor, step: Tensor, rows: int, pairs: int) -> str:
    return (
        f"{dt.shape[0]} channels share {rows} rows of poles: step sizes {dt.min():.3g} to {dt.max():.3g} "
        f"were made equal in each group (geometric mean, {step.min():.3g} to {step.max():.3g}) and C "
        f"rescaled; {rows * pairs} pole pairs serve all channels"
    )


def _distinct(poles: Tensor, dt: Tensor, disc: str) -> int:
    rows = poles.shape[0]
    resonances = frequencies_of(poles.repeat(dt.shape[0] // rows, 1), dt, disc)
    return int(torch.unique((resonances * 1e9).round()).numel())
