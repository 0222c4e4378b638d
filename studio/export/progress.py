"""How far an export is, how fast, and how long it will still take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from studio.export.speech_source import ExportItem

# Before so much has been seen of a kind of work, nobody can say how long the rest takes.
_LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ExportProgress:
    """``num_done`` of ``num_lines`` lines are seen to. ``item`` is at work, None while the lines are being joined.

    ``share``, 0..1, and ``remaining_seconds`` weigh lines that must be spoken by their length;
    ``speed`` is seconds of sound made a second. Both None while too little is known.
    """

    num_done: int
    num_lines: int
    item: ExportItem | None
    audio_seconds: float
    elapsed_seconds: float
    share: float
    remaining_seconds: float | None = None
    speed: float | None = None


class Pace:
    """Learns from each finished piece of work what such work costs: speaking by the letter, writing by the line."""

    def __init__(
        self, *, letters_to_speak: int, lines_to_write: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._started = clock()
        self._piece_started = self._started
        self._letters_left, self._lines_left = letters_to_speak, lines_to_write
        self._letters_done, self._lines_done = 0, 0
        self._speaking_seconds, self._writing_seconds = 0.0, 0.0

    @property
    def elapsed_seconds(self) -> float:
        return self._clock() - self._started

    def begin(self) -> None:
        self._piece_started = self._clock()

    def spoke(self, letters: int) -> None:
        """The piece of work that was begun was to speak so many letters."""
        self._speaking_seconds += self._since_begin()
        self._letters_done += letters
        self._letters_left -= letters

    def wrote(self, *, lines: int = 1) -> None:
        self._writing_seconds += self._since_begin()
        self._lines_done += lines
        self._lines_left -= lines

    def skipped(self, *, letters: int = 0, lines: int = 0) -> None:
        """Work that turned out not to be needed says nothing about the pace."""
        self._letters_left -= letters
        self._lines_left -= lines

    @property
    def remaining_seconds(self) -> float | None:
        if self._letters_left and self._speaking_seconds < _LEAST_SECONDS:
            return None
        if (
            not self._letters_left
            and self._lines_left
            and self._writing_seconds + self._speaking_seconds < _LEAST_SECONDS
        ):
            return None
        seconds_a_letter = self._speaking_seconds / max(1, self._letters_done)
        seconds_a_line = self._writing_seconds / max(1, self._lines_done)
        return self._letters_left * seconds_a_letter + self._lines_left * seconds_a_line

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
