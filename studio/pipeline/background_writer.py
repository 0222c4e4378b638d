"""Background writing of large cache files, so that synthesis does not wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable


class BackgroundWriter:
    """Performs one write at a time. Thread-safe.

    To limit memory, at most one write is held or in progress.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holding = threading.Lock()
        self._held: Callable[[], None] | None = None
        self._thread: threading.Thread | None = None

    def hold(self, write: Callable[[], None]) -> None:
        """Hold ``write`` until ``start``, after completing an earlier one."""
        with self._holding:
            self.start()
            self.wait()
            with self._lock:
                self._held = write

    def start(self) -> None:
        """Start the held write, if any."""
        with self._lock:
            write, self._held = self._held, None
            if write is not None:
                self._thread = threading.Thread(target=write, name="cache-writer", daemon=True)
                self._thread.start()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the write in progress. Return False after ``timeout_seconds``."""
        with self._lock:
            thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_seconds)
        return not thread.is_alive()
