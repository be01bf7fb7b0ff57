"""The UCR archive's text form: one series a line, its label first; tabs, blanks or commas between."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.data.labels import tidy
from tdi_plugin.errors import DataError

_MISSING = {"", "?", "NA", "nan", "NaN"}


def read_text(path: Path, labelled: bool = True) -> tuple[NDArray[np.float32], list[str] | None]:
    """Values (n, L, 1), shorter rows filled with NaN, and n labels as text; None where ``labelled`` is False.

    Raises:
        DataError: an empty file, a row without values, or a value that is no number (says where).
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text ({error}); expected one series a line, label first.") from error
    rows, labels = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = _cells(line)
        if labelled and len(cells) < 2:
            raise DataError(
                f"{path}, line {number}: {line.strip()[:40]!r} has a label but no values; expected a "
                "label and then the series, separated by tabs, blanks or commas."
            )
        labels.append(tidy(cells[0]))
        rows.append(_numbers(cells[1:] if labelled else cells, path, number))
    if not rows:
        raise DataError(f"{path} has no series (it is empty); expected one series a line, label first.")
    values = np.full((len(rows), max(map(len, rows))), np.nan, dtype=np.float32)
    for row, series in zip(values, rows, strict=True):
        row[: len(series)] = series
    return values[..., None], labels if labelled else None


def _cells(line: str) -> list[str]:
    for separator in ("\t", ","):
        if separator in line:
            return line.split(separator)
    return line.split()


def _numbers(cells: list[str], path: Path, number: int) -> NDArray[np.float64]:
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        cells = ["nan" if cell.strip() in _MISSING else cell for cell in cells]
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        column = next(i for i, cell in enumerate(cells) if not _is_number(cell))
        raise DataError(
            f"{path}, line {number}, column {column + 2}: {cells[column]!r} is not a number; expected a "
            "label and then numbers (NaN, ? or nothing for a missing value)."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
