"""The .ts and .arff forms, through aeon's readers, and the sets that the aeon package ships."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdi_plugin._optional import require
from tdi_plugin.data.labels import tidy
from tdi_plugin.errors import DataError


def read_aeon(path: Path) -> tuple[NDArray[np.float32], list[str] | NDArray[np.float32] | None]:
    """Values (n, L, D), shorter series filled with NaN; labels as text, real targets (n, 1), or None.

    Raises:
        DataError: a file with time stamps, or one that aeon's reader refuses.
        MissingDependency: aeon is not installed.
    """
    datasets: Any = require("aeon.datasets", extra="aeon", for_=f"reading {path.suffix} files")
    has_targets = False
    if path.suffix == ".ts":
        header = ts_header(path)
        if header.get("timestamps", "false") == "true":
            raise DataError(
                f"{path} has time stamps (@timeStamps true); expected plain samples at equal intervals. "
                "Resample the series onto an even grid and write them without stamps."
            )
        has_targets = header.get("targetlabel", "false").startswith("true")
    read = datasets.load_from_ts_file if path.suffix == ".ts" else datasets.load_from_arff_file
    try:
        series, labels = read(str(path))
    except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a {path.suffix} file that aeon can read: {error}") from error
    if len(series) == 0:
        raise DataError(f"{path} has no series; expected some after @data.")
    values = _one_grid(list(series))
    if labels is None or len(labels) == 0:
        return values, None
    if has_targets:
        return values, np.asarray(labels, dtype=np.float32)[:, None]
    return values, [tidy(str(label)) for label in labels]


def ts_header(path: Path) -> dict[str, str]:
    """The @keys of a .ts file, in lower case, up to @data."""
    header = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.lower().startswith("@data"):
                break
            if match := re.match(r"@(\w+)\s+(.*)", line):
                header[match[1].lower()] = match[2].strip().lower()
    return header


def bundled() -> dict[str, Path]:
    """Name -> folder of the classification sets inside the installed aeon package; empty without aeon."""
    spec = importlib.util.find_spec("aeon")
    if spec is None or not spec.submodule_search_locations:
        return {}
    root = Path(spec.submodule_search_locations[0]) / "datasets" / "data"
    folders = (path for path in sorted(root.glob("*")) if (path / f"{path.name}_TEST.ts").is_file())
    return {folder.name: folder for folder in folders if _classifies(folder / f"{folder.name}_TRAIN.ts")}


def _classifies(path: Path) -> bool:
    return path.is_file() and ts_header(path).get("classlabel", "false").startswith("true")


def _one_grid(series: list[NDArray[Any]]) -> NDArray[np.float32]:
    """(n, L, D) from n arrays (D, L_i)."""
    longest, channels = max(s.shape[-1] for s in series), series[0].shape[0]
    values = np.full((len(series), longest, channels), np.nan, dtype=np.float32)
    for row, one in zip(values, series, strict=True):
        row[: one.shape[-1]] = one.T
    return values
