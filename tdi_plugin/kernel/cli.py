"""``tdi theory``: the study of the SSM-induced kernel, in tables and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tdi_plugin.errors import OptionError, choices
from tdi_plugin.overrides import parse_overrides

HELP = """The theory in numbers, on synthetic tasks: what the SSM-induced kernel does and doesn't predict.

  tdi theory                            tables; pictures and results.json into ./theory
  tdi theory output=DIR seed=1          elsewhere, other random tasks
  tdi theory parts=[convergence,fit]    some parts only
  tdi theory quick=true                 seconds instead of minutes: few trials, to see that it runs

Parts:
  convergence     kernel eigenvalues against |H|^2 / L as L grows; a system where the worst error stays
  fit             C(rho), its area and J / sum(eta): S4D-Lin, TDI, TDI on peaks, spectral matching
  curves          predicted and measured learning curves: white, coloured and two-class data
  gain            the mismatch score against TDI's gain on random bands; where TDI loses
  concentration   why the largest J isn't the best prior

docs/theory.md explains each. Pictures need matplotlib: pip install 'tdi-plugin[plots]', or pictures=false."""

DEFAULTS: dict[str, Any] = {"output": "theory", "seed": 0, "quick": False, "parts": None, "pictures": True}


def main(argv: list[str]) -> int:
    """Run the study, print its tables, write results.json and the pictures.

    Raises:
        OptionError: an unknown setting or part, or a value of the wrong kind.
    """
    parser = argparse.ArgumentParser(
        prog="tdi theory", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = settings(parse_overrides(parser.parse_args(argv).settings))

    from tdi_plugin.kernel.study import run_study, write_results
    from tdi_plugin.kernel.study.tables import tables

    console = Console()
    with console.status("starting") as status:
        results = run_study(
            given["parts"], given["seed"], given["quick"], progress=lambda part: status.update(f"{part} ...")
        )
    for table in tables(results):
        console.print(_rich(table.title, table.columns, table.rows))
        for line in table.notes:
            console.print(line, markup=False, highlight=False)
    folder = Path(str(given["output"]))
    paths = [write_results(results, folder)]
    if given["pictures"]:
        from tdi_plugin.kernel.study.pictures import write_pictures

        paths += write_pictures(results, folder)
    console.print("Written: " + ", ".join(str(p) for p in paths), markup=False, soft_wrap=True)
    return 0


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """Defaults overlaid by what was given, checked."""
    from tdi_plugin.kernel.study import PARTS

    for name in given:
        if name not in DEFAULTS:
            raise OptionError(f"Unknown setting {name!r} of tdi theory: {choices(name, DEFAULTS)}")
    out = {**DEFAULTS, **given}
    parts = PARTS if out["parts"] is None else out["parts"]
    out["parts"] = (parts,) if isinstance(parts, str) else tuple(parts)
    for part in out["parts"]:
        if part not in PARTS:
            raise OptionError(f"Unknown part {part!r} of tdi theory: {choices(str(part), PARTS)}")
    for name, kind in (("seed", int), ("quick", bool), ("pictures", bool)):
        if type(out[name]) is not kind:
            raise OptionError(
                f"{name}={out[name]!r} of tdi theory: a value of type {kind.__name__} was expected."
            )
    if not 0 <= out["seed"] < 2**31:
        raise OptionError(f"seed={out['seed']} of tdi theory: 0 to 2^31 - 1 was expected.")
    return out


def _rich(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table
