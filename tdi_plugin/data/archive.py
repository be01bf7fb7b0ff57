"""Where a UCR set lies: a folder in the archive's layout, else the copies inside the aeon package."""

from __future__ import annotations

import os
from pathlib import Path

from tdi_plugin.data.aeon_files import bundled
from tdi_plugin.errors import DataError, choices

ARCHIVE = "UCRArchive_2018"
_SUFFIXES = (".tsv", ".txt", ".ts")


def data_root(data_dir: str | Path | None) -> Path | None:
    """The data folder: ``data_dir`` (which must exist), else $DATA_PATH, else None.

    Raises:
        DataError: ``data_dir`` is no folder.
    """
    if data_dir is None:
        return Path(os.environ["DATA_PATH"]).expanduser() if os.environ.get("DATA_PATH") else None
    root = Path(data_dir).expanduser()
    if not root.is_dir():
        raise DataError(f"data_dir={str(data_dir)!r} is no folder; give the data folder, or unset it.")
    return root


def find(name: str, data_dir: str | Path | None = None) -> tuple[Path, Path]:
    """The training and the test file of a set.

    Raises:
        DataError: not found; says where it was looked for, the nearest known name and how to get the set.
    """
    root = data_root(data_dir)
    folders = _folders(root)
    if name in folders and (files := _pair(folders[name])):
        return files
    shipped = bundled()
    if name in shipped and (files := _pair(shipped[name])):
        return files
    archive = (Path("$DATA_PATH (not set)") if root is None else root) / ARCHIVE
    raise DataError(
        f"UCR set {name!r} was not found: {_available({**shipped, **folders}, name)} Looked for "
        f"{archive / name / name}_TRAIN.tsv and its _TEST, and in the aeon package. Unpack the UCR archive "
        f"(www.cs.ucr.edu/~eamonn/time_series_data_2018) into {archive}, or set DATA_PATH or data_dir."
    )


def _available(known: dict[str, Path], name: str) -> str:
    if not known:
        return "no set is here at all; pip install 'tdi-plugin[aeon]' brings a few."
    return choices(name, known)


def _folders(root: Path | None) -> dict[str, Path]:
    if root is None or not root.is_dir():
        return {}
    archive = root / ARCHIVE if (root / ARCHIVE).is_dir() else root
    return {path.name: path for path in archive.iterdir() if path.is_dir() and _pair(path)}


def _pair(folder: Path) -> tuple[Path, Path] | None:
    for suffix in _SUFFIXES:
        files = folder / f"{folder.name}_TRAIN{suffix}", folder / f"{folder.name}_TEST{suffix}"
        if all(file.is_file() for file in files):
            return files
    return None
