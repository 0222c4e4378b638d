"""Cancellation and progress of a running request."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancelled(Exception):
    """The request was cancelled. This is not shown as an error."""


class RequestControl:
    """Shared by the thread that runs a request and the thread that started it. Thread-safe."""

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
        """End the request within one chunk, and call the functions passed to ``when_cancelled``."""
        with self._lock:
            self._cancelled.set()
            callbacks, self._on_cancel = self._on_cancel, []
        for wake in callbacks:
            wake()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once on cancellation, or now if the request is already cancelled."""
        with self._lock:
            if not self._cancelled.is_set():
                self._on_cancel.append(wake)
                return
        wake()

    def raise_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    def report_progress(self, stage: str, done: float) -> None:
        """Report the completed share of ``stage``, from 0 to 1."""
        if self._on_progress:
            self._on_progress(stage, done)

    def report_estimate(self, seconds_until_gapless: float) -> None:
        """Report the time from the request to the earliest start of gapless playback."""
        if self._on_estimate:
            self._on_estimate(seconds_until_gapless)
