"""A request's handle while it runs: cancel it, and hear how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancelled(Exception):
    """The person changed their mind. Not an error, and never shown as one."""


class RequestControl:
    """Shared between who runs a request and who asked for it; every method is safe from any thread."""

    def __init__(
        self,
        *,
        on_progress: Callable[[str, float], None] | None = None,
        on_estimate: Callable[[float], None] | None = None,
    ) -> None:
        self._cancelled = threading.Event()
        self._on_cancel: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._on_progress = on_progress
        self._on_estimate = on_estimate

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ends the request within one chunk: whoever waits inside it is woken."""
        with self._lock:
            self._cancelled.set()
            callbacks, self._on_cancel = self._on_cancel, []
        for wake in callbacks:
            wake()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """``wake`` is called once, at cancellation (at once if that has been)."""
        with self._lock:
            if not self._cancelled.is_set():
                self._on_cancel.append(wake)
                return
        wake()

    def raise_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def report_progress(self, stage: str, done: float) -> None:
        """``done`` is the measured share of ``stage``, 0..1."""
        if self._on_progress:
            self._on_progress(stage, done)

    def report_estimate(self, seconds_until_gapless: float) -> None:
        """From the moment the request was made until play may begin and never has to wait."""
        if self._on_estimate:
            self._on_estimate(seconds_until_gapless)
