"""JSON files that are whole or not there, and hashes of settings."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tdi_plugin.errors import DataError


def content_key(settings: Mapping[str, Any]) -> str:
    """20 hex digits of the SHA-256 of the settings; order of keys does not matter."""
    return hashlib.sha256(canonical(settings).encode()).hexdigest()[:20]


def write_atomically(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON so that a reader, or a power cut, sees the old file or the new one and nothing between.

    Raises:
        DataError: the disk is full, or the folder is not there or may not be written.
    """
    temporary, text = path.with_name(f"{path.name}.{os.getpid()}.tmp"), canonical(value) + "\n"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise DataError(
            f"{path} cannot be written ({error.strerror}); make room or give the folder rights, then repeat "
            "the command."
        ) from error
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def canonical(value: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no spare spaces; NaN and infinity are errors."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON mapping in a file, or None where there is none or it is not whole.

    Raises:
        DataError: a file that is there but cannot be read, which says nothing about what is in it.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror}); check its rights and the disk, then repeat the "
            "command."
        ) from error
    return value if isinstance(value, dict) else None
