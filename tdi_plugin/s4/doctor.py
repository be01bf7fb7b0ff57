"""``tdi s4 doctor``: is this checkout one that we know, and does s4 run on what is installed here?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tdi_plugin.errors import HostError
from tdi_plugin.s4.paths import KNOWN_COMMIT, checkout

OK, NOTE, FAIL = "ok", "note", "fail"


@dataclass(frozen=True)
class Row:
    """One thing that was looked at.

    Attributes:
        name: what.
        status: "ok", "note" (works, but worth knowing) or "fail" (something needed does not).
        found: what was seen.
        remedy: what to do about it, if anything.
    """

    name: str
    status: str
    found: str
    remedy: str = ""


def examine(path: str | Path | None = None) -> list[Row]:
    """All rows for a checkout: its files here, everything that imports or runs s4 in a process of its own."""
    try:
        root = checkout(path)
    except HostError as error:
        return [Row("checkout", FAIL, str(error))]
    return [*of_files(root), *of_behaviour(root)]


def of_files(root: Path) -> list[Row]:
    """The checkout on disk: commit, changes, patches."""
    from tdi_plugin.s4.patch import states
    from tdi_plugin.s4.setup import changed_files, commit_of

    found = set(states(root).values())
    patched = "patched" if found == {"patched"} else "partly patched" if "patched" in found else ""
    commit = commit_of(root)
    rows = [
        Row("checkout", OK, f"{root} at {KNOWN_COMMIT[:7]}")
        if commit == KNOWN_COMMIT
        else Row(
            "checkout",
            NOTE,
            f"{root} at {commit[:7] if commit else 'an unknown commit'}",
            f"known to work: {KNOWN_COMMIT[:7]}; what follows was checked by running it",
        )
    ]
    if changed := [] if patched else changed_files(root):
        rows.append(Row("changed files", NOTE, f"{len(changed)}, such as {changed[0]}"))
    if patched:
        rows.append(Row("hook in the source", NOTE, patched, "tdi s4 patch PATH --reverse takes it out"))
    return rows


def of_behaviour(root: Path) -> list[Row]:
    """What importing and running s4 shows; a crash of that process is a row too."""
    done = subprocess.run(
        [sys.executable, "-m", "tdi_plugin.s4.probe", str(root)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("[{")]
    if not lines:
        tail = (done.stderr.strip() or "no output").splitlines()[-1]
        return [Row("running s4", FAIL, f"the process ended with {done.returncode}: {tail}")]
    return [Row(**row) for row in json.loads(lines[-1])]


def report(path: str | Path | None = None) -> int:
    """Print the table; 0 where everything needed works, else 1."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    rows = examine(path)
    colours = {OK: "green", NOTE: "yellow", FAIL: "red"}
    table = Table()
    for heading in ("", "", "found", "what to do"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        cells = (escape(cell) for cell in (row.name, row.found, row.remedy))
        table.add_row(f"[{colours[row.status]}]{row.status}[/]", *cells)
    console = Console()
    console.print(table)
    failed = [row.name for row in rows if row.status == FAIL]
    console.print(f"Not working: {escape(', '.join(failed))}." if failed else "s4 and init: tdi work here.")
    return int(bool(failed))
