"""Ending work that another thread does: at once, even while it waits for a server that is silent."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Protocol


class DownloadCancelled(Exception):
    """The work ended because it was asked to; what it had done is kept."""


class HasStream(Protocol):
    """An answer from a server, with the connection it comes through."""

    @property
    def extensions(self) -> dict[str, object]: ...


class CancelToken:
    """Thrown once, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._waiting_for: socket.socket | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            if self._waiting_for is not None:
                _hang_up(self._waiting_for)

    def check(self) -> None:
        """Raises ``DownloadCancelled`` if it was thrown."""
        if self.is_cancelled:
            raise DownloadCancelled

    def sleep(self, seconds: float) -> None:
        """Raises ``DownloadCancelled`` as soon as it is thrown."""
        if self._event.wait(seconds):
            raise DownloadCancelled

    @contextlib.contextmanager
    def watching(self, answer: HasStream) -> Iterator[None]:
        """While ``answer`` is being read, a throw hangs up: no waiting for a server's patience to end."""
        stream = answer.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
        with self._lock:
            self._waiting_for = connection if isinstance(connection, socket.socket) else None
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._waiting_for = None


def _hang_up(connection: socket.socket) -> None:
    """Wakes whoever reads from it. Below TLS: its own shutdown is not meant for another thread."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
