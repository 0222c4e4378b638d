"""Background thread that syncs a working copy to disk within a second of each write.

Without it, a power cut loses what the system still buffers, which may be half a minute of work.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from pathlib import Path

from studio.storage import sqlite

_log = logging.getLogger(__name__)
_DELAY_SECONDS = 0.5


class Checkpoints:
    """Syncs one working copy. Call ``request`` after each write, and ``close`` before closing the working copy."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_requested = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    def request(self) -> None:
        """Sync soon, without waiting. Call from one thread at a time."""
        self._is_requested.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._is_closed.set()
        self._is_requested.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with contextlib.closing(sqlite.connect(self._path)) as connection:
            while self._is_requested.wait() and not self._is_closed.wait(_DELAY_SECONDS):
                self._is_requested.clear()
                try:
                    # Syncs the write-ahead log, then the file. Neither readers nor writers wait for it.
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                except sqlite3.Error as error:
                    _log.warning("%s may not be synced: %s", self._path, error)
