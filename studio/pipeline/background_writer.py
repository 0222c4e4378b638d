"""Writing of large cache files in the background, so that no sound waits for a disk."""

from __future__ import annotations

import threading
from collections.abc import Callable


class BackgroundWriter:
    """Carries out one write at a time. Safe from any thread.

    What is to be written stays in memory until it is: at most one write is held or under way.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holding = threading.Lock()
        self._held: Callable[[], None] | None = None
        self._thread: threading.Thread | None = None

    def hold(self, write: Callable[[], None]) -> None:
        """Keep ``write`` until ``start``; first finish an earlier one."""
        with self._holding:
            self.start()
            self.wait()
            with self._lock:
                self._held = write

    def start(self) -> None:
        """Begin the write that is held, if any."""
        with self._lock:
            write, self._held = self._held, None
            if write is not None:
                self._thread = threading.Thread(target=write, name="cache-writer", daemon=True)
                self._thread.start()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the write under way; False if it takes longer than ``timeout_seconds``."""
        with self._lock:
            thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_seconds)
        return not thread.is_alive()
