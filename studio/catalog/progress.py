"""Progress of an installation: bytes, measured speed and remaining time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from studio.errors import StudioError

_WINDOW_SECONDS = 15.0
# The speed of the first data is not representative.
_MIN_SECONDS = 2.0


class Phase(Enum):
    LISTING = "listing"  # requesting the list of files
    CHECKING = "checking"  # hashing existing files
    RECEIVING = "receiving"
    WAITING = "waiting"  # after ``error``, for ``wait_seconds``
    COPYING = "copying"  # from a folder or an archive, or into one


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot. ``total_bytes`` is 0 while unknown; speed and remaining time are None until measured."""

    phase: Phase
    file: str = ""
    file_bytes: int = 0
    file_size_bytes: int = 0
    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_second: float | None = None
    remaining_seconds: float | None = None
    error: StudioError | None = None
    wait_seconds: float = 0.0

    @property
    def share(self) -> float | None:
        return self.done_bytes / self.total_bytes if self.total_bytes else None


OnProgress = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """Do nothing. The default callback."""


class SpeedMeter:
    """Moving average of the transfer speed over the last 15 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._readings: deque[tuple[float, int]] = deque()
        self._received = 0

    def restart(self) -> None:
        """Start a new measurement, for example after a pause."""
        self._readings.clear()
        self._readings.append((self._clock(), self._received))

    def add(self, num_bytes: int) -> None:
        """Count received bytes. A negative number (a file that restarted) counts as 0."""
        now = self._clock()
        if not self._readings:
            self._readings.append((now, self._received))
        self._received += max(0, num_bytes)
        self._readings.append((now, self._received))
        while now - self._readings[0][0] > _WINDOW_SECONDS and len(self._readings) > 2:
            self._readings.popleft()

    @property
    def bytes_per_second(self) -> float | None:
        if len(self._readings) < 2:
            return None
        (begin, before), (end, after) = self._readings[0], self._readings[-1]
        seconds = end - begin
        return (after - before) / seconds if seconds >= _MIN_SECONDS else None

    def remaining_seconds(self, num_bytes: int) -> float | None:
        speed = self.bytes_per_second
        return num_bytes / speed if speed else None
