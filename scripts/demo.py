"""A paired low-data comparison on real series that aeon ships: S4D-Lin against TDI, table and picture.

usage: python scripts/demo.py [output=demo] [seeds=5] [epochs=40]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tdi_plugin import task_spectrum
from tdi_plugin.hosts import find_hosts
from tdi_plugin.overrides import parse_overrides
from tdi_plugin.sweep.arms import resolve
from tdi_plugin.sweep.group import Group
from tdi_plugin.sweep.members import member
from tdi_plugin.sweep.models import builder
from tdi_plugin.sweep.protocol import group_data, paired, run_group
from tdi_plugin.sweep.statistics import PairedSummary, paired_summary
from tdi_plugin.sweep.study import Study

CONDITIONS = (("GunPoint", 0.5), ("ItalyPowerDemand", 0.3))
ARMS = {"lin": ("S4D-Lin", "C0"), "tdi": ("TDI", "C1")}
MODELS = {"deep-layer": "layer", "deep-batch": "batch"}


def main(argv: list[str]) -> None:
    """Run every condition, print the table, save the picture."""
    options = {"output": "demo", "seeds": 5, "epochs": 40, **parse_overrides(argv)}
    output = Path(str(options.pop("output")))
    started = time.monotonic()
    torch.set_num_threads(1)  # tensors this small lose time in threads, and much of it on a busy machine
    names = tuple(name for name, _ in CONDITIONS)
    fixed: dict[str, Any] = {"models": tuple(MODELS), "batch_size": 16, "schedule": "cosine", "max_test": 300}
    study = Study.of(name="demo", datasets=names, **fixed, **options)
    groups = [Group(study, name, ratio, model) for name, ratio in CONDITIONS for model in MODELS]
    records = run_all(groups)
    Console().print(comparison(groups, records, study))
    picture = output / "demo.png"
    output.mkdir(parents=True, exist_ok=True)
    draw(groups, records, picture)
    print(f"Picture: {picture}   ({time.monotonic() - started:.0f} s)")


def run_all(groups: list[Group]) -> list[dict[str, Any]]:
    """Train every group, with a bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    records = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        for i, group in enumerate(groups):
            task = bar.add_task(f"{i + 1}/{len(groups)} {group}", total=1.0)
            records.append(run_group(group, progress=lambda part, t=task: bar.update(t, completed=part)))  # type: ignore[misc]
            bar.remove_task(task)
    return records


def comparison(groups: list[Group], records: list[dict[str, Any]], study: Study) -> Table:
    """Final and early accuracy, S4D-Lin and the paired difference with its 95 % bootstrap interval."""
    table = Table(
        title=f"S4D-Lin against TDI: test accuracy in percent, {len(study.seeds)} paired seeds",
        caption="[]: 95 % paired bootstrap over seeds; early: mean of epochs 1-10",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name in ("data (series)", "norm", "Lin", "TDI", "difference", "won", "early"):
        left = name in ("data (series)", "norm")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    for group, record in zip(groups, records, strict=True):
        final, early = (gain(record, metric) for metric in ("final", "early10"))
        table.add_row(
            f"{group.dataset} ({record['n_train']})",
            MODELS[group.model],
            f"{final.base:.1f}",
            f"{final.other:.1f}",
            f"{final.mean:+.1f} [{final.low:+.1f}, {final.high:+.1f}]",
            f"{final.wins}/{final.n}",
            f"{early.mean:+.1f}",
        )
    return table


def gain(record: dict[str, Any], metric: str) -> PairedSummary:
    """TDI against S4D-Lin over the seeds of a group, in percent."""
    base, other = paired(record, "tdi", metric=metric)
    return paired_summary(100 * np.array(base), 100 * np.array(other))


def response(model: torch.nn.Module, length: int) -> torch.Tensor:
    """(K,) mean over channels of |H|^2 of the first layer's own kernel, as a density on the rFFT grid."""
    kernel = find_hosts(model)[0].kernel(length).detach().double()
    power = torch.fft.rfft(kernel).abs().square().mean(dim=(0, 1))
    power[0] = 0.0
    return power / power.sum()


def draw(groups: list[Group], records: list[dict[str, Any]], path: Path) -> None:
    """A row a data set: its task spectrum with |H|^2 before and after, then test accuracy by epoch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.8 * (1 + len(MODELS)), 2.8 * len(CONDITIONS)), layout="constrained")
    rows = figure.subplots(len(CONDITIONS), 1 + len(MODELS), squeeze=False)
    for row, (name, _) in zip(rows, CONDITIONS, strict=True):
        chosen = [pair for pair in zip(groups, records, strict=True) if pair[0].dataset == name]
        draw_responses(row[0], chosen[0][0])
        row[0].set(title=f"{name} ({chosen[0][1]['n_train']} series), first seed", xlabel="cycles / sample")
        for axis, (group, record) in zip(row[1:], chosen, strict=True):
            draw_curves(axis, record)
            axis.set(title=f"{name}, {MODELS[group.model]} norm", xlabel="epoch", ylabel="test accuracy, %")
    rows[0][0].legend(fontsize=7)
    rows[0][1].legend(fontsize=8, title="mean and range of seeds", title_fontsize=7)
    figure.savefig(path, dpi=100)


def draw_responses(axis: Any, group: Group) -> None:
    """The task spectrum of the first seed's subset, and what the first layer answers to."""
    data = group_data(group)
    seed = group.study.seeds[0]
    train = data.run(group.ratio, seed).train
    build = builder(group.model, data, group.study.ssm_lr)
    task = task_spectrum(train.x, train.y)
    frequencies = task.frequencies[1:]
    axis.fill_between(frequencies, task.density[1:], color="0.75", label=f"task spectrum ({task.statistic})")
    for arm, (title, color) in ARMS.items():
        model, _ = member(build, resolve(arm, {}), train, seed, {})
        axis.semilogy(frequencies, response(model, data.length)[1:], color=color, label=f"|H|², {title}")
    axis.set_ylim(float(task.density[1:].max()) * 1e-4, None)
    axis.set_ylabel("density")


def draw_curves(axis: Any, record: dict[str, Any]) -> None:
    """Mean and range over seeds of the test accuracy after each epoch."""
    for arm, (title, color) in ARMS.items():
        curves = [run["curves"]["test_accuracy"] for run in record["runs"] if run["arm"] == arm]
        percent = 100 * np.array(curves, dtype=float)
        epochs = np.arange(1, percent.shape[1] + 1)
        axis.plot(epochs, percent.mean(0), color=color, label=title)
        axis.fill_between(epochs, percent.min(0), percent.max(0), color=color, alpha=0.15, linewidth=0)


if __name__ == "__main__":
    main(sys.argv[1:])
