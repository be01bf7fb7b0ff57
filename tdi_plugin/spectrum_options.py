"""The command line of `tdi spectrum`: its options, and the help that teaches them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tdi_plugin.config import STATISTICS
from tdi_plugin.errors import OptionError

EXAMPLES = """examples:
  tdi spectrum --data my_TRAIN.tsv --output spectrum.npz
  tdi spectrum --data recordings.npz --labels labels.txt --sample-rate 250 --smoothing multitaper
  tdi spectrum experiment=tdi/ucr/ecg5000 tdi.train_ratio=0.04 output=ecg5000.npz
  tdi train experiment=tdi/ucr/ecg5000 tdi.spectrum_file=ecg5000.npz

files: .tsv .txt .csv (a label, then the series, in each line), .ts .arff (with aeon), .npz (arrays x
and y, optionally lengths and sample_rate), .npy (x, with --labels), MNIST's idx files, a folder of wav
files in one folder for each class.
"""


def parser() -> argparse.ArgumentParser:
    """The command line, with help that teaches."""
    made = argparse.ArgumentParser(
        prog="tdi spectrum",
        description="Measure the task spectrum: the frequencies at which the labels of series live.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("overrides", nargs="*", metavar="KEY=VALUE", help="an experiment and its overrides, as for tdi train")
    add("--data", help="a file or folder of series, instead of an experiment")
    add(
        "--labels",
        help="a file with one label a series, where --data holds none; 'none' ignores those it has",
    )
    add("--target", default="auto", choices=("auto", "classes", "real"), help="what the labels of --data are")
    add(
        "--missing",
        default="error",
        choices=("error", "interpolate"),
        help="for gaps inside series of --data",
    )
    add("--sample-rate", type=float, metavar="HZ", help="samples per second, for frequencies in Hz")
    add("--statistic", choices=STATISTICS, help="default: auto, chosen by the data (see the reason it gives)")
    add("--smoothing", help="for few series: welch[:samples], multitaper[:NW] or moving[:bins]")
    add("--permutations", type=int, default=200, help="label shuffles for the p-values; 0 for none")
    add("--peaks", type=int, default=8, help="how many peaks to list")
    add("--seed", type=int, default=0, help="of the shuffles")
    add(
        "--output",
        metavar="FILE.npz",
        help="save the spectrum, for tdi.spectrum_file=FILE.npz, and a picture",
    )
    add("--picture", metavar="FILE", help="draw it to a .png, .pdf or .svg (needs matplotlib)")
    return made


def take_own(options: argparse.Namespace, overrides: Sequence[str]) -> list[str]:
    """Set output=FILE and picture=FILE, which may stand among the overrides; the rest is the experiment's."""
    rest = []
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise OptionError(f"{override!r} is no override; expected KEY=VALUE, or --data {override}.")
        if key in ("output", "picture"):
            setattr(options, key, value)
        else:
            rest.append(override)
    return rest
