"""`tdi spectrum`: where do the labels live, of a file or of an experiment's training series."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from tdi_plugin.errors import OptionError
from tdi_plugin.spectrum import TaskSpectrum
from tdi_plugin.spectrum_options import parser, take_own


def main(argv: Sequence[str]) -> int:
    """Measure, print a table, and save what was asked for.

    Raises:
        TDIError: a file, option or data set that cannot be used.
    """
    options = parser().parse_intermixed_args(list(argv))
    options.overrides = take_own(options, options.overrides)
    if (options.data is None) == (not options.overrides):
        raise OptionError(
            "Give either --data FILE or an experiment, e.g. experiment=tdi/ucr/gunpoint; "
            "`tdi spectrum --help` has examples."
        )
    progress = Console(stderr=True)
    found = of_file(options, progress) if options.data else of_experiment(options, progress)
    for name, spectrum in found.items():
        show(spectrum, name, options.peaks)
        save(spectrum, name, options, alone=len(found) == 1)
    return 0


def of_file(options: Namespace, progress: Console) -> dict[str, TaskSpectrum]:
    """The spectrum of --data."""
    from tdi_plugin.data import load_series
    from tdi_plugin.spectrum.estimate import start
    from tdi_plugin.spectrum.functional import ArrayBatches

    series = load_series(
        options.data, options.labels, options.sample_rate, missing=options.missing, target=options.target
    )
    if series.y is None and options.statistic not in (None, "power"):
        raise OptionError(
            f"{options.data} has no labels and --statistic {options.statistic} needs them: "
            "give --labels FILE."
        )
    unlabelled = series.y is None or options.statistic == "power"
    measurement = start(
        "power" if unlabelled else options.statistic or "auto",
        smoothing=options.smoothing,
        sample_rate=series.sample_rate,
        permutations=0 if unlabelled else options.permutations,
        seed=options.seed,
    )
    batches = ArrayBatches(series.x, series.y, series.lengths)
    for batch in tracked(batches, len(batches), progress):
        measurement.add(*batch)
    with progress.status("Weighing the evidence"):
        spectrum = measurement.finish()
    if series.y is None:
        spectrum = spectrum.replaced(reason="the data have no labels: power, which needs none")
    path = Path(options.data)
    return {path.name if path.is_dir() else path.name.partition(".")[0]: spectrum}


def of_experiment(options: Namespace, progress: Console) -> dict[str, TaskSpectrum]:
    """The spectra that a run of the experiment would measure, by layer where they differ."""
    from tdi_plugin.spectrum_run import experiment_spectra

    own = {"sample_rate": options.sample_rate, "permutations": options.permutations, "seed": options.seed}
    for name in ("statistic", "smoothing"):
        if (value := getattr(options, name)) is not None:
            options.overrides.append(f"tdi.{name}={value}")
    return experiment_spectra(options.overrides, own, partial(tracked, console=progress))


def tracked(batches: Iterable[Any], total: int, console: Console) -> Iterator[Any]:
    """The batches, with a progress bar that is gone when they are through."""
    silent = not console.is_terminal
    yield from track(batches, "Measuring", total=total, console=console, transient=True, disable=silent)


def show(spectrum: TaskSpectrum, name: str, most: int) -> None:
    """Print what was found."""
    from tdi_plugin.spectrum.table import spectrum_table

    console = Console()
    for part in spectrum_table(spectrum, name, most):
        console.print(part)


def save(spectrum: TaskSpectrum, name: str, options: Namespace, alone: bool) -> None:
    """Write the spectrum and its picture; several of them with their names before the ending."""
    from tdi_plugin.spectrum.picture import save_picture

    def named(file: str) -> Path:
        path = Path(file)
        return path if alone else path.with_name(f"{path.stem}-{name}{path.suffix}")

    picture = options.picture
    if options.output:
        saved = spectrum.save(named(options.output))
        use = "it leaves poles as they are" if spectrum.abstains else f"use it with tdi.spectrum_file={saved}"
        print(f"saved to {saved}: {use}")
        if picture is None and find_spec("matplotlib") is not None:
            picture = str(Path(options.output).with_suffix(".png"))
    if picture:
        print(f"drawn to {save_picture(spectrum, named(picture), name)}")
