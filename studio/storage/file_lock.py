"""A lock that ends with its process, however that ends: tells a working copy in use from one left behind."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Held from construction until :meth:`release`. The file is made where it is missing."""

    def __init__(self, path: Path) -> None:
        """Raises ``BlockingIOError`` where another process, or another part of this one, holds it."""
        self._path = path
        # Not inherited by child processes: a worker that outlives the window must not hold its lock.
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _try_lock(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            raise BlockingIOError(f"{path} is locked") from error

    def release(self, *, removes_file: bool = False) -> None:
        if self._descriptor < 0:
            return
        try:
            if removes_file and sys.platform != "win32":  # before another can lock it
                self._path.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)
            self._descriptor = -1
        if removes_file and sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
