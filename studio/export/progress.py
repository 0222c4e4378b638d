"""Progress of an export, with an estimate of the remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from studio.export.speech_source import ExportItem

# With less measured work, no estimate is possible.
_MIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ExportProgress:
    """Progress of an export.

    Attributes:
        num_done: The number of processed lines.
        item: The current line, or None while the lines are joined.
        share: The completed share of the work, from 0 to 1. Lines to be spoken are weighted by their length.
        remaining_seconds: The estimated remaining time, or None while it is unknown.
        speed: Seconds of audio per second, or None while it is unknown.
        lines_per_minute: The spoken lines per minute, or None while it is unknown.
    """

    num_done: int
    num_lines: int
    item: ExportItem | None
    share: float
    remaining_seconds: float | None = None
    speed: float | None = None
    lines_per_minute: float | None = None


class Pace:
    """Estimator of the remaining time, from the measured times per spoken letter and per written line."""

    def __init__(
        self, *, letters_to_speak: int, lines_to_write: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._started = clock()
        self._piece_started = self._started
        self._letters_left, self._lines_left = letters_to_speak, lines_to_write
        self._letters_done, self._lines_done = 0, 0
        self._num_spoken = 0
        self._speaking_seconds, self._writing_seconds = 0.0, 0.0

    @property
    def elapsed_seconds(self) -> float:
        return self._clock() - self._started

    @property
    def speaking_seconds(self) -> float:
        """The time spent on lines that have been spoken."""
        return self._speaking_seconds

    @property
    def lines_per_minute(self) -> float | None:
        """Spoken lines per minute of speaking, or None while too little is measured."""
        if not self._num_spoken or self._speaking_seconds < _MIN_SECONDS:
            return None
        return 60.0 * self._num_spoken / self._speaking_seconds

    def begin(self) -> None:
        self._piece_started = self._clock()

    def spoke(self, letters: int) -> None:
        """Record that ``letters`` have been spoken since the last ``begin``."""
        self._speaking_seconds += self._since_begin()
        self._num_spoken += 1
        self._letters_done += letters
        self._letters_left -= letters

    def wrote(self) -> None:
        """Record that a line was written since the last ``begin`` or ``spoke``."""
        self._writing_seconds += self._since_begin()
        self._lines_done += 1
        self._lines_left -= 1

    def skipped(self, *, letters: int = 0, lines: int = 0) -> None:
        """Remove work that is no longer needed from the estimate."""
        self._letters_left -= letters
        self._lines_left -= lines

    @property
    def remaining_seconds(self) -> float | None:
        if self._letters_left:
            measured_seconds = self._speaking_seconds
        else:
            measured_seconds = self._writing_seconds + self._speaking_seconds
        if (self._letters_left or self._lines_left) and measured_seconds < _MIN_SECONDS:
            return None
        seconds_per_letter = self._speaking_seconds / max(1, self._letters_done)
        seconds_per_line = self._writing_seconds / max(1, self._lines_done)
        return self._letters_left * seconds_per_letter + self._lines_left * seconds_per_line

    @property
    def share(self) -> float:
        remaining = self.remaining_seconds
        if remaining is not None and self.elapsed_seconds > 0:
            return self.elapsed_seconds / (self.elapsed_seconds + remaining)
        total = self._letters_done + self._letters_left + self._lines_done + self._lines_left
        return (self._letters_done + self._lines_done) / total if total else 1.0

    def _since_begin(self) -> float:
        now = self._clock()
        seconds, self._piece_started = now - self._piece_started, now
        return seconds
