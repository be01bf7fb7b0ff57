"""The folder of a store and the file that says which format it has."""

from __future__ import annotations

from pathlib import Path

from tdi_plugin.errors import DataError
from tdi_plugin.sweep.atomic import read_json, write_atomically

FORMAT = 2
"""Raised whenever files of an older package version would be misread or should not be mixed with new ones."""


def open_folder(root: Path, create: bool) -> None:
    """Check that the folder is a store of this format; with ``create`` make what of it is not there.

    Raises:
        DataError: the folder holds something else, or a store of another format, or cannot be made.
    """
    marker = root / "store.json"
    try:
        if not marker.exists():
            if not create:
                raise DataError(f"No store at {root}; make one with `tdi sweep study=NAME store=DIR`.")
            if root.exists() and any(root.iterdir()) and not (root / "groups").is_dir():
                raise DataError(f"{root} is not empty and not a store; give an empty or new folder.")
            _make_parts(root)
            write_atomically(marker, {"format": FORMAT})
        _check_format(marker)
        if create:
            _make_parts(root)
    except OSError as error:
        raise DataError(
            f"{root} cannot be a store ({error.strerror}); give one that is, or that can be made."
        ) from error


def _make_parts(root: Path) -> None:
    for part in ("groups", "studies", "claims"):
        (root / part).mkdir(parents=True, exist_ok=True)


def _check_format(marker: Path) -> None:
    found = read_json(marker)
    if found is None or found.get("format") != FORMAT:
        version = "unreadable" if found is None else found.get("format")
        raise DataError(
            f"{marker} says format {version}; this version reads and writes format {FORMAT}. "
            "Use the version that wrote it, or another folder: nothing here was changed."
        )
