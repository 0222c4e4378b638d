"""File lock that the system releases when the process ends, so that no lock remains after a crash."""

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
    """An exclusive lock on a file, held from construction until :meth:`release`. Creates a missing file."""

    def __init__(self, path: Path) -> None:
        """Raise ``BlockingIOError`` if the lock is held, by another process or by this one."""
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
            if removes_file and sys.platform != "win32":  # delete the file before another process can lock it
                self._path.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)
            self._descriptor = -1
        if removes_file and sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
