from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tdi_plugin.errors import DataError, OptionError
from tdi_plugin.sweep.report import write_report
from tdi_plugin.sweep.runner import run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study

WORK = """
import json, sys
from tdi_plugin.sweep.runner import run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study
print("ready", flush=True)
outcome = run_study(Study.of(json.loads(sys.argv[2])), Store(sys.argv[1]), poll=0.05)
print(outcome.ran, flush=True)
"""


def start(store: Path, study: Study) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, str(store), json.dumps(study.as_dict())]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def table(store: Path) -> str:
    return write_report(Store(store), None, store / "tables", plots=False)[0]


def without_provenance(store: Path) -> dict[str, Any]:
    return {k: {n: v for n, v in g.items() if n != "provenance"} for k, g in Store(store).groups().items()}


def test_a_finished_study_is_not_run_again(tiny: Callable[..., Study], tmp_path: Path) -> None:
    study, store, seen = tiny(), Store(tmp_path), []
    outcome = run_study(study, store, lambda what, done, total: seen.append((what, done / total)))
    assert (outcome.ran, outcome.found, outcome.elsewhere) == (4, 0, 0)
    parts = [part for _, part in seen]
    assert parts == sorted(parts)
    assert seen[-1] == ("done", 1.0)
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "groups").iterdir()}
    again = run_study(study, store)
    assert (again.ran, again.found) == (0, 4)
    assert stamps == {p: p.stat().st_mtime_ns for p in (tmp_path / "groups").iterdir()}


def test_a_damaged_group_alone_is_run_again(tiny: Callable[..., Study], tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_study(tiny(), store)
    before = table(tmp_path)
    victim = next((tmp_path / "groups").glob("*.json"))
    victim.write_text(victim.read_text()[:100])
    assert run_study(tiny(), store).ran == 1
    assert table(tmp_path) == before


def test_another_study_shares_equal_groups(tiny: Callable[..., Study], tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_study(tiny(datasets=["Tiny"]), store)
    assert run_study(tiny(name="wider"), store).found == 2
    with pytest.raises(OptionError, match="other settings"):
        run_study(tiny(), store)


def test_an_unknown_data_set_names_the_nearest(tiny: Callable[..., Study], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Tiny"):
        run_study(tiny(datasets=["Tyny"]), Store(tmp_path))
    assert Store(tmp_path).groups() == {}


def test_kill_9_at_three_moments_loses_and_repeats_nothing(
    tiny: Callable[..., Study], tmp_path: Path
) -> None:
    study = tiny(models=["deep-layer"], epochs=6)
    run_study(study, Store(tmp_path / "whole"))
    moments = random.Random(0)
    broken = tmp_path / "broken"
    for _ in range(3):
        finished = len(Store(broken).groups())
        worker = start(broken, study)
        time.sleep(moments.uniform(0.1, 1.2))
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        assert len(Store(broken).groups()) >= finished
    left = 4 - len(Store(broken).groups())
    assert run_study(study, Store(broken)).ran == left
    assert without_provenance(broken) == without_provenance(tmp_path / "whole")
    assert table(broken) == table(tmp_path / "whole")


def test_two_processes_finish_each_group_once(tiny: Callable[..., Study], tmp_path: Path) -> None:
    study = tiny(models=["deep-layer"], epochs=4, seeds=1, ratios=[0.25, 0.5, 1.0])
    workers = [start(tmp_path / "s", study) for _ in range(2)]
    ran = [int(worker.communicate()[0]) for worker in workers]
    assert sum(ran) == 6
    assert len(Store(tmp_path / "s").groups()) == 6


def test_groups_of_a_dead_process_are_taken_over(tiny: Callable[..., Study], tmp_path: Path) -> None:
    study = tiny(models=["deep-layer"], epochs=200, seeds=1, datasets=["Tiny"], ratios=[1.0])
    store = Store(tmp_path)
    worker = start(tmp_path, study)
    while not list((tmp_path / "claims").glob("[0-9a-f]*.lock")):
        assert worker.poll() is None
        time.sleep(0.02)
    assert run_study(study, store, wait=False).ran == 0
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    quick = tiny(name="quick", models=["deep-layer"], epochs=1, seeds=1, datasets=["Tiny"], ratios=[1.0])
    assert run_study(quick, store).ran == 1
    (key,) = [p.stem for p in (tmp_path / "claims").glob("[0-9a-f]*.lock") if store.load(p.stem) is None]
    with store.claim(key) as free:
        assert free
