"""JSON files that are whole or not there, and hashes of settings."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def content_key(settings: Mapping[str, Any]) -> str:
    """20 hex digits of the SHA-256 of the settings; order of keys does not matter."""
    return hashlib.sha256(canonical(settings).encode()).hexdigest()[:20]


def write_atomically(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON so that a reader, or a power cut, sees the old file or the new one and nothing between."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(canonical(value) + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
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
    """The JSON mapping in a file, or None where there is none or it is not whole."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
