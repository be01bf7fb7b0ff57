"""The idx files of MNIST, plain or gzipped."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdi_plugin.errors import DataError

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def is_idx(path: Path) -> bool:
    """True for a file named like MNIST's: ...-ubyte or ....idx, with or without .gz."""
    return path.name.removesuffix(".gz").endswith(("-ubyte", ".idx"))


def read_idx(path: Path) -> NDArray[Any]:
    """The array in an idx file: two zero bytes, a type, the number of axes, their sizes, then the values.

    Raises:
        DataError: no idx file, or one that ends too early.
    """
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read as a gzip file: {error}. Fetch it again.") from error
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _TYPES:
        raise DataError(
            f"{path} is no idx file: it begins with {raw[:4].hex(' ')}, expected 00 00, a type, axes."
        )
    dtype, axes = np.dtype(_TYPES[raw[2]]), raw[3]
    shape = tuple(np.frombuffer(raw, ">i4", axes, 4).tolist()) if len(raw) >= 4 + 4 * axes else (-1,)
    body = len(raw) - 4 - 4 * axes
    if min(shape, default=0) < 0 or body != math.prod(shape) * dtype.itemsize:
        raise DataError(
            f"{path} holds {body} bytes of values, expected shape {shape} of {dtype}. Fetch it again."
        )
    values = np.frombuffer(raw, dtype, offset=4 + 4 * axes).reshape(shape)
    return values.astype(dtype.newbyteorder("="))
