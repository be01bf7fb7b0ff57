"""Locks of the operating system: a process that is killed, however, lets go at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tdi_plugin.errors import DataError


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[bool]:
    """True while this process alone holds the file; False where another one does and ``wait`` is not set.

    Raises:
        DataError: a folder that may not be written, or a disk without file locks.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            got = False
        except OSError as error:
            raise _unusable(path, error) from error
        else:
            got = True
        yield got
    finally:
        os.close(handle)


def _unusable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path} cannot be locked ({error.strerror}); a store needs a folder that may be written, on a disk "
        "with file locks."
    )
