"""Cancellation of work on another thread, effective even while it waits for a server that does not respond."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Protocol


class DownloadCancelled(Exception):
    """The user cancelled the work. Completed parts are kept."""


class HasStream(Protocol):
    """An HTTP response with access to its connection."""

    @property
    def extensions(self) -> dict[str, object]: ...


class CancelToken:
    """A cancellation flag. ``cancel`` may be called once, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            if self._connection is not None:
                _shut_down(self._connection)

    def check(self) -> None:
        """Raise ``DownloadCancelled`` if cancelled."""
        if self.is_cancelled:
            raise DownloadCancelled

    def sleep(self, seconds: float) -> None:
        """Wait. Raise ``DownloadCancelled`` as soon as it is cancelled."""
        if self._event.wait(seconds):
            raise DownloadCancelled

    @contextlib.contextmanager
    def watching(self, response: HasStream) -> Iterator[None]:
        """While ``response`` is being read, ``cancel`` also closes its connection, which wakes the reader."""
        stream = response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
        with self._lock:
            self._connection = connection if isinstance(connection, socket.socket) else None
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._connection = None


def _shut_down(connection: socket.socket) -> None:
    """Wake the thread that reads from ``connection``. Bypasses TLS, whose shutdown is not thread-safe."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
