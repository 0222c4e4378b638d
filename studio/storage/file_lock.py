"""File lock that the system releases when the process ends, so that no lock remains after a crash."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_POLL_SECONDS = 0.02


class FileLock:
    """An exclusive lock on a file, held from construction until :meth:`release`. Creates a missing file."""

    def __init__(self, path: Path, *, wait_seconds: float = 0.0) -> None:
        """Raise ``BlockingIOError`` if the lock is held for ``wait_seconds``, by another process or by this one."""
        self._path = path
        end = time.monotonic() + wait_seconds
        while (descriptor := _open_locked(path)) is None:
            if time.monotonic() >= end:
                raise BlockingIOError(f"{path} is locked")
            time.sleep(_POLL_SECONDS)
        self._descriptor = descriptor

    def release(self, *, removes_file: bool = False) -> None:
        if self._descriptor < 0:
            return
        try:
            if removes_file and sys.platform != "win32":  # delete the file before another process can lock it
                self._path.unlink(missing_ok=True)
        finally:
            # Closing is not enough: a process that is being started may have a copy of the descriptor for a moment.
            with contextlib.suppress(OSError):
                _unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        if removes_file and sys.platform == "win32":
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


def _open_locked(path: Path) -> int | None:
    """Return a descriptor of the locked file, or None if the lock is held or its holder has just deleted the file."""
    # Not inherited by child processes: a worker that outlives the window must not hold its lock.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _try_lock(descriptor)
    except OSError:
        os.close(descriptor)
        return None
    if os.fstat(descriptor).st_nlink == 0:
        os.close(descriptor)
        return None
    return descriptor
