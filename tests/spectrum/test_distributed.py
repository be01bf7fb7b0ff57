"""Two processes give what one gives, whoever holds which series."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tdi_plugin.spectrum import CrossSpectrum, FisherLogPower, PowerSpectrum, task_spectrum

WORKER = """
import json, sys
import torch
import torch.distributed as dist
from tdi_plugin.errors import DataError
from tdi_plugin.spectrum import CrossSpectrum, FisherLogPower, PowerSpectrum
from tdi_plugin.spectrum.estimate import spectrum_of_batches

rank, store, data, out = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
torch.set_num_threads(1)
loaded = torch.load(data)
x, y = loaded["x"], loaded["y"]
found = {}
for split, owner in loaded["splits"].items():
    mine = (owner == rank).nonzero()[:, 0]
    batches = [(x[rows], y[rows]) for rows in mine.split(7) if len(rows)]
    for make in (FisherLogPower, CrossSpectrum, PowerSpectrum):
        metric = make()
        for batch in batches:
            metric.update(*batch)
        if not batches:
            metric._update_count = 1
        found[f"{make.__name__} {split}"] = metric.compute().power.tolist()
        if batches:
            found[f"{make.__name__} {split} alone"] = int(metric.tally[0]) == len(mine)
    gathered = spectrum_of_batches(batches, permutations=20, distributed=True)
    found[f"auto {split}"] = gathered.power.tolist()
    found[f"auto {split} chose"] = gathered.statistic
metric = PowerSpectrum()
metric.update(x[:, : 20 + rank])
try:
    metric.compute()
    found["lengths"] = "no error"
except DataError as error:
    found["lengths"] = str(error)
json.dump(found, open(f"{out}.{rank}", "w"))
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(40) % 3
    x = torch.randn(40, 24, generator=generator).double()
    x += y[:, None] * torch.cos(2 * torch.pi * 0.25 * torch.arange(24))
    splits = {
        "uneven": (torch.arange(40) > 30).long(),
        "by class": (y == 2).long(),
        "all on one": torch.zeros(40).long(),
    }
    return {"x": x, "y": y, "splits": splits}


@pytest.fixture(scope="module")
def found(
    data: dict[str, Any], run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """What each of two processes finds."""
    folder = tmp_path_factory.mktemp("two")
    torch.save(data, folder / "data.pt")
    (folder / "worker.py").write_text(WORKER)
    launch = (
        "import subprocess, sys; "
        "command = lambda rank: [sys.executable, sys.argv[1], rank, *sys.argv[2:]]; "
        "runs = [subprocess.Popen(command(rank)) for rank in '01']; "
        "sys.exit(max(run.wait() for run in runs))"
    )
    files = [str(folder / name) for name in ("worker.py", "store", "data.pt", "out")]
    run_python("-c", launch, *files, OMP_NUM_THREADS="1")
    return [json.loads(Path(f"{files[-1]}.{rank}").read_text()) for rank in (0, 1)]


@pytest.mark.parametrize("split", ["uneven", "by class", "all on one"])
@pytest.mark.parametrize("make", [FisherLogPower, CrossSpectrum, PowerSpectrum])
def test_metrics_agree_with_one_process(
    data: dict[str, Any], found: list[dict[str, Any]], make: Any, split: str
) -> None:
    one = make()
    one.update(data["x"], data["y"])
    for process in found:
        power = torch.tensor(process[f"{make.__name__} {split}"], dtype=torch.float64)
        torch.testing.assert_close(power, one.compute().power, rtol=1e-9, atol=0)
        assert process.get(f"{make.__name__} {split} alone", True), "each keeps its own sums after compute()"


@pytest.mark.parametrize("split", ["uneven", "by class", "all on one"])
def test_gathered_measurements_agree_on_all_processes(
    data: dict[str, Any], found: list[dict[str, Any]], split: str
) -> None:
    expected = task_spectrum(data["x"], data["y"])
    for process in found:
        assert process[f"auto {split} chose"] == expected.statistic
        power = torch.tensor(process[f"auto {split}"], dtype=torch.float64)
        torch.testing.assert_close(power, expected.power, rtol=1e-9, atol=0)


def test_processes_with_other_lengths_are_told(found: list[dict[str, Any]]) -> None:
    assert all("[20, 21]" in process["lengths"] for process in found)
