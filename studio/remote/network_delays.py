"""Delays of the chunks of one request on the network."""

from __future__ import annotations


class NetworkDelays:
    """Compares when chunks left the other computer with when they arrived.

    The clocks of both computers are never compared, only intervals: a delay is relative to that of the first chunk.
    After an interruption, the time since the last chunk before it counts as a delay.
    """

    def __init__(self) -> None:
        self.longest_seconds: float | None = None
        self._offset: float | None = None
        self._last_arrival: float | None = None
        self._is_interrupted = False

    def begin(self) -> None:
        """An attempt begins; the other computer counts its time from here."""
        self._offset = None
        self._is_interrupted = self._last_arrival is not None

    def add(self, arrived: float, sent: float | None) -> None:
        """Add a chunk that arrived at ``arrived`` and was sent at ``sent``, in seconds of each computer."""
        if sent is not None:
            delay = 0.0 if self._offset is None else arrived - sent - self._offset
            if self._offset is None:
                self._offset = arrived - sent
            if self._is_interrupted and self._last_arrival is not None:
                delay = arrived - self._last_arrival
            self.longest_seconds = max(self.longest_seconds or 0.0, delay)
        self._is_interrupted = False
        self._last_arrival = arrived
