"""Cancellation, early end and progress of a running request."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancelled(Exception):
    """The request was cancelled. This is not shown as an error."""


class _Signal:
    """Is given once, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def is_given(self) -> bool:
        return self._event.is_set()

    def give(self) -> None:
        with self._lock:
            self._event.set()
            callbacks, self._waiting = self._waiting, []
        for wake in callbacks:
            wake()

    def when_given(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once, now if the signal has been given."""
        with self._lock:
            if not self._event.is_set():
                self._waiting.append(wake)
                return
        wake()


class RequestControl:
    """Shared by the thread that runs a request and the thread that started it. Thread-safe."""

    def __init__(
        self,
        *,
        on_progress: Callable[[str, float], None] | None = None,
        on_estimate: Callable[[float], None] | None = None,
    ) -> None:
        self._cancelled, self._stopped_early = _Signal(), _Signal()
        self._on_progress = on_progress
        self._on_estimate = on_estimate

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_given

    @property
    def is_stopped_early(self) -> bool:
        return self._stopped_early.is_given

    def cancel(self) -> None:
        """End the request within one chunk, and call the functions passed to ``when_cancelled``."""
        self._cancelled.give()

    def stop_early(self) -> None:
        """End the request after its current sentence, and call the functions passed to ``when_stopped_early``."""
        self._stopped_early.give()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once on cancellation, or now if the request is already cancelled."""
        self._cancelled.when_given(wake)

    def when_stopped_early(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once when the request is to end early, or now if that is so already."""
        self._stopped_early.when_given(wake)

    def raise_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise Cancelled

    def report_progress(self, stage: str, done: float) -> None:
        """Report the completed share of ``stage``, from 0 to 1."""
        if self._on_progress:
            self._on_progress(stage, done)

    def report_estimate(self, seconds_until_gapless: float) -> None:
        """Report the time from the request to the earliest start of gapless playback."""
        if self._on_estimate:
            self._on_estimate(seconds_until_gapless)
