"""Put the hook into s4's own source, and take it out again: inserted lines only, on known files only."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from tdi_plugin.errors import HostError
from tdi_plugin.s4.paths import KNOWN_COMMIT

_HUNK = re.compile(r"^@@ -(\d+),0 \+\d+(?:,\d+)? @@$")
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Patch:
    """The insertions for one file of s4.

    Attributes:
        file: path inside the checkout.
        known: SHA-256 of the contents that they fit.
        insertions: (line of the original after which they go, the lines), in order.
    """

    file: str
    known: tuple[str, ...]
    insertions: tuple[tuple[int, tuple[str, ...]], ...]

    def state(self, root: Path) -> str:
        """ "plain", "patched", "unknown" or "missing"."""
        path = root / self.file
        if not path.is_file():
            return "missing"
        lines = _lines(path)
        if _digest(lines) in self.known:
            return "plain"
        return "patched" if _digest(self.removed(lines)) in self.known else "unknown"

    def inserted(self, lines: list[str]) -> list[str]:
        """The file with the insertions."""
        result, done = [], 0
        for after, new in self.insertions:
            result += [*lines[done:after], *new]
            done = after
        return result + lines[done:]

    def removed(self, lines: list[str]) -> list[str]:
        """The file without the insertions, or as it is where they are not in place."""
        result, done, shift = [], 0, 0
        for after, new in self.insertions:
            start = after + shift
            if tuple(lines[start : start + len(new)]) != new:
                return lines
            result += lines[done:start]
            done, shift = start + len(new), shift + len(new)
        return result + lines[done:]


def patches() -> list[Patch]:
    """The package's patches, in the order of ``known.json``."""
    folder = next((f for f in (_PACKAGE / "patches", _PACKAGE.parent / "patches") if f.is_dir()), None)
    if folder is None:
        raise HostError(f"The patches are in neither {_PACKAGE} nor its parent; reinstall tdi-plugin.")
    known = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    return [
        Patch(
            file, tuple(entry["sha256"]), _insertions((folder / entry["patch"]).read_text(encoding="utf-8"))
        )
        for file, entry in known.items()
    ]


def states(root: Path) -> dict[str, str]:
    """File -> "plain", "patched", "unknown" or "missing"."""
    return {patch.file: patch.state(root) for patch in patches()}


def apply(root: Path, reverse: bool = False) -> list[str]:
    """Patch a checkout, or take the patches out; files that are there already stay as they are.

    Returns:
        The files that were written.

    Raises:
        HostError: a file that is neither the known one nor our patch of it; then nothing is written.
    """
    found = states(root)
    if strange := {file: state for file, state in found.items() if state in ("unknown", "missing")}:
        named = ", ".join(f"{file} ({state})" for file, state in strange.items())
        raise HostError(
            f"Refused, nothing was written: {named} in {root}; expected the files of state-spaces/s4 "
            f"v4.1.0 or {KNOWN_COMMIT[:7]}. With tdi-plugin installed no patch is needed: set init: tdi."
        )
    written = []
    for patch in patches():
        if found[patch.file] == ("patched" if reverse else "plain"):
            path = root / patch.file
            lines = _lines(path)
            path.write_bytes("".join((patch.removed if reverse else patch.inserted)(lines)).encode())
            written.append(patch.file)
    return written


def _insertions(diff: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: list[tuple[int, list[str]]] = []
    for line in diff.splitlines(keepends=True):
        if hunk := _HUNK.match(line.rstrip("\n")):
            found.append((int(hunk[1]), []))
        elif line.startswith("+") and found:
            found[-1][1].append(line[1:])
    return tuple((after, tuple(lines)) for after, lines in found)


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").splitlines(keepends=True)


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()
