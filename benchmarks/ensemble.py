"""An ensemble of paired runs beside the same runs one after another; one JSON object a line.

    python benchmarks/ensemble.py [ratio study] [--threads 1] [--data FOLDER]

ratio: arms a second on ECG5000 at 4 % of its training set, ten seeds and two arms, tested after every epoch.
study: the one-layer study of ECG5000 with one channel, eight ratios, 30 epochs, accuracy on the whole test
set every epoch. ECG5000 is read from FOLDER/UCRArchive_2018 ($DATA_PATH); without it, noise of that shape
is used.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tdi_plugin.data import nested_subset
from tdi_plugin.nn import OneLayer, SequenceClassifier
from tdi_plugin.sweep.ensemble import train_ensemble
from tdi_plugin.sweep.group_data import RunData, Split
from tdi_plugin.sweep.loop import Optimisation, batch_order

SEEDS, ARMS, BATCH = 10, 2, 16
RATIOS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0)
LENGTH, CLASSES = 140, 5
Make = Callable[[], nn.Module]


def one_linear() -> nn.Module:
    return OneLayer(1, CLASSES, LENGTH, d_model=1, d_state=64, lr=1e-3)


def one_power() -> nn.Module:
    return OneLayer(1, CLASSES, LENGTH, d_model=32, d_state=32, readout="power", lr=1e-3)


def deep(norm: str) -> nn.Module:
    layer = {"d_state": 32, "lr": 1e-3}
    return SequenceClassifier(1, CLASSES, d_model=32, n_layers=2, norm=norm, layer=layer)


def ecg5000(folder: Path) -> tuple[Split, Split, str]:
    """Training and test set, x (n, 140, 1) and y (n,), and where they are from."""
    found = []
    for part, n in (("TRAIN", 500), ("TEST", 4500)):
        path = folder / "UCRArchive_2018" / "ECG5000" / f"ECG5000_{part}.tsv"
        if not path.is_file():
            draw = torch.Generator().manual_seed(n)
            found.append(Split(torch.randn(n, LENGTH, 1, generator=draw), torch.arange(n) % CLASSES))
            continue
        rows = torch.tensor([[float(v) for v in line.split()] for line in path.read_text().splitlines()])
        found.append(Split(rows[:, 1:, None].contiguous(), rows[:, 0].long() - 1))
    return found[0], found[1], "ECG5000" if path.is_file() else "noise like ECG5000"


class Group:
    """Models, series and orders of all seeds and arms at one ratio; arms differ by their poles."""

    def __init__(self, make: Make, train: Split, test: Split, ratio: float, epochs: int) -> None:
        self.models, self.runs, self.orders = [], [], []
        self.options = Optimisation(epochs, BATCH, lr=0.01, weight_decay=0.0, clip=1.0)
        for seed in range(SEEDS):
            run = RunData(train.at(nested_subset(train.y, ratio, seed)), None, test)
            order = batch_order(len(run.train), epochs, seed)
            for arm in range(ARMS):
                torch.manual_seed(seed)
                model = make()
                with torch.no_grad():
                    for name, value in model.named_parameters():
                        if name.endswith("A_imag"):
                            value.add_(arm)
                self.models.append(model)
                self.runs.append(run)
                self.orders.append(order)

    def ensemble(self) -> None:
        train_ensemble(self.models, self.runs, self.orders, self.options)

    def one_by_one(self) -> None:
        for model, data, order in zip(self.models, self.runs, self.orders, strict=True):
            train_alone(model, data.train, order, data.test)


def train_alone(model: nn.Module, train: Split, order: Tensor, test: Split) -> list[float]:
    """The run as one writes it by hand."""
    own = [p for p in model.parameters() if getattr(p, "_optim", {}).get("lr")]
    rest = [p for p in model.parameters() if not getattr(p, "_optim", {}).get("lr")]
    groups: list[dict[str, Any]] = [{"params": rest}, {"params": own, "lr": 1e-3}]
    optimizer = torch.optim.AdamW(groups, lr=0.01, weight_decay=0.0)
    curve = []
    for visits in order:
        model.train()
        for index in visits.split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(model(train.x[index]), train.y[index]).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = [
                (model(x).argmax(-1) == y).sum()
                for x, y in zip(test.x.split(128), test.y.split(128), strict=True)
            ]
        curve.append(float(sum(hits)) / len(test))
    return curve


def report(name: str, **measured: Any) -> None:
    rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in measured.items()}
    print(json.dumps({"name": name, "threads": torch.get_num_threads(), **rounded}), flush=True)


def ratio(folder: Path) -> None:
    train, test, source = ecg5000(folder)
    makes: dict[str, tuple[Make, int, int]] = {
        "one-layer, linear readout": (one_linear, 10, len(test)),
        "one-layer, power readout": (one_power, 3, 500),
        "two blocks, layer norm": (lambda: deep("layer"), 2, 500),
        "two blocks, batch norm": (lambda: deep("batch"), 2, 500),
    }
    for name, (make, epochs, n_test) in makes.items():
        few = Split(test.x[:n_test], test.y[:n_test])
        Group(make, train, few, 0.04, 1).ensemble()
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(3):
            for run, found in zip((Group.ensemble, Group.one_by_one), times, strict=True):
                group = Group(make, train, few, 0.04, epochs)
                start = time.process_time()
                run(group)
                found.append(time.process_time() - start)
        ours, theirs = (min(found) for found in times)
        report(
            name, shape={"members": SEEDS * ARMS, "epochs": epochs, "test": n_test}, speedup=theirs / ours,
            arms_per_second=SEEDS * ARMS / ours, data=source, reference="one after another, CPU time",
        )  # fmt: skip


def study(folder: Path) -> None:
    train, test, source = ecg5000(folder)
    started, cpu = time.perf_counter(), time.process_time()
    for part in RATIOS:
        Group(one_linear, train, test, part, 30).ensemble()
    shape = {"seeds": SEEDS, "arms": ARMS, "ratios": len(RATIOS), "epochs": 30, "test": len(test)}
    report(
        "one-layer study", shape=shape, seconds=time.perf_counter() - started,
        cpu_seconds=time.process_time() - cpu, data=source, reference="under 300 s",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help="of ratio, study; both by default")
    parser.add_argument("--threads", type=int, default=1)
    beside = Path(__file__).parent.parent.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DATA_PATH", beside)))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    for part in given.parts or ("ratio", "study"):
        {"ratio": ratio, "study": study}[part](given.data)


if __name__ == "__main__":
    main()
