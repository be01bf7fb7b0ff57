"""``tdi sweep`` and ``tdi table``."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.text import Text

from tdi_plugin.errors import OptionError
from tdi_plugin.sweep.arguments import read_values, read_words, take_count
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import ENGINES, STUDIES, Study
from tdi_plugin.sweep.study_settings import number

SWEEP_HELP = """Paired low-data studies: data sets x ratios x seeds x arms; resumable, in several processes.

  tdi sweep study=smoke store=runs/smoke              a small study of the package
  tdi sweep study=mine.yaml store=runs/mine           your own: see docs/studies.md
  tdi sweep study=smoke store=runs/x seeds=3 ratios=[0.1,0.5] arms=[lin,tdi] name=shorter
  tdi sweep study=smoke store=runs/x launcher=joblib workers=4

Any setting of a study can be given as key=value; tdi.OPTION=value sets an option of every TDI arm.
Each process computes on one thread, which is quickest for small models: start the command several times, or
give workers=N with a launcher, to use more cores (threads=N changes that).
Kill it whenever you like and give the same command again: finished groups stay, none runs twice."""

TABLE_HELP = """Tables and plots of a store: printed, and written as Markdown, CSV, JSON and PNG.

  tdi table runs/smoke                                into runs/smoke/tables
  tdi table runs/smoke study=smoke low=0.16 output=DIR plots=false"""


class EndColumn(ProgressColumn):
    """The clock time at which the work will be done, at the speed so far."""

    def render(self, task: Task) -> Text:
        if task.finished or not task.time_remaining:
            return Text("")
        end = datetime.now() + timedelta(seconds=task.time_remaining)
        return Text(f"{timedelta(seconds=int(task.time_remaining))} left, ends about {end:%H:%M}")


def main_sweep(argv: list[str]) -> int:
    """Run a study into a store.

    Raises:
        OptionError: no study or store given, unknown settings, or another study of the name in the store.
    """
    more = (
        f"\nStudies here: {', '.join(sorted(p.stem for p in STUDIES.glob('*.yaml')))}."
        f"\nEngines: {', '.join(ENGINES)}."
    )
    given = read_values(read_words("tdi sweep", SWEEP_HELP + more, argv))
    import torch

    name, folder = given.pop("study", None), given.pop("store", None)
    if not name or not folder:
        raise OptionError("tdi sweep needs study=NAME and store=DIR; `tdi sweep --help` lists the studies.")
    threads, launcher = take_count(given, "threads", 1), given.pop("launcher", None)
    own = [key for key in given if key == "workers" or key.startswith("hydra.")]
    if launcher is None and own:
        raise OptionError(f"{own[0]} is a launcher's; add launcher=joblib (or another one), or leave it out.")
    workers, hydra = take_count(given, "workers", 2), {k: given.pop(k) for k in own if k != "workers"}
    torch.set_num_threads(threads)
    study = Study.load(name, given)
    if launcher is not None:
        from tdi_plugin.sweep.launch import launch

        return launch(launcher, workers, study, Path(folder), hydra, threads)
    return sweep(study, Path(folder))


def sweep(study: Study, folder: Path) -> int:
    """Run with a progress bar; one line a finished call."""
    from tdi_plugin.sweep.runner import run_study

    store = Store(folder)
    console = Console()
    for problem in store.problems():
        console.print(problem, markup=False)
    columns: tuple[ProgressColumn, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        EndColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=600) as bar:
        task: Any = None
        shown = ""

        def report(what: str, done: float, total: float) -> None:
            nonlocal task, shown
            if not console.is_terminal and what != shown:
                print(f"{100 * done / total:3.0f} % {what}", flush=True)
            shown = what
            if task is None:
                task = bar.add_task(what, total=total)
            bar.update(task, description=what, completed=done, total=total)

        outcome = run_study(study, store, report)
    console.print(
        f"{study.name}: {outcome.ran} groups run, {outcome.found} were there, {outcome.elsewhere} by others. "
        f"Tables: tdi table {folder}", markup=False, soft_wrap=True,
    )  # fmt: skip
    return 0


def main_table(argv: list[str]) -> int:
    """Print and write the tables and plots of a store.

    Raises:
        OptionError: not one folder, an unknown setting or study, or a value of another kind.
        DataError: no store, no finished group, or a folder that cannot be written.
    """
    words = read_words("tdi table", TABLE_HELP, argv)
    folders = [w for w in words if "=" not in w]
    if len(folders) != 1:
        raise OptionError(
            f"tdi table needs one store folder; got {folders}. For example: tdi table runs/smoke"
        )
    given = read_values([w for w in words if "=" in w])
    known = {"study", "low", "high", "output", "plots"}
    if unknown := set(given) - known:
        raise OptionError(f"Unknown setting {sorted(unknown)} of tdi table; known: {sorted(known)}.")
    low, high = number("low", given.get("low", 0.16)), number("high", given.get("high", 0.64))
    if low >= high:
        raise OptionError(f"low={low:g} and high={high:g}: the low ratios must end below the high ones.")
    if not isinstance(plots := given.get("plots", True), bool):
        raise OptionError(f"plots={plots!r}: expected true or false.")
    from tdi_plugin.sweep.report import write_report

    store = Store(folders[0], create=False)
    console = Console()
    for problem in store.problems():
        console.print(problem, markup=False)
    if plots and "plots" not in given and find_spec("matplotlib") is None:
        plots = False
        console.print("No plots: they need matplotlib (pip install 'tdi-plugin[plots]').", markup=False)
    output = Path(given.get("output") or Path(folders[0]) / "tables")
    text, paths = write_report(store, given.get("study"), output, low, high, plots)
    console.print(text, markup=False, soft_wrap=True)
    console.print("Written: " + ", ".join(str(p) for p in paths), markup=False, soft_wrap=True)
    return 0
