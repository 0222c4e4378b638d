"""Lines that an export waits for until they are synthesised, and their progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from studio.export.progress import Pace
from studio.project.project import Project

# The speed is unknown before this much time has passed.
_MIN_SECONDS = 1.0


class PendingLines:
    """Pending lines of ``project`` by id. They may finish in any order."""

    def __init__(
        self, project: Project, line_ids: Sequence[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._project = project
        self._waiting = {line_id: len(project.line(line_id).text) for line_id in line_ids}  # number of characters
        self.num_lines = len(self._waiting)
        self._audio_seconds = 0.0
        self._pace = Pace(
            letters_to_speak=sum(self._waiting.values()),
            lines_to_write=0,
            clock=clock,
        )

    def __contains__(self, line_id: str) -> bool:
        return line_id in self._waiting

    @property
    def waiting(self) -> list[str]:
        return list(self._waiting)

    @property
    def num_done(self) -> int:
        return self.num_lines - len(self._waiting)

    @property
    def speed(self) -> float | None:
        """Seconds of audio synthesised per second, None while unknown."""
        elapsed = self._pace.elapsed_seconds
        return self._audio_seconds / elapsed if elapsed > _MIN_SECONDS and self._audio_seconds else None

    @property
    def remaining_seconds(self) -> float | None:
        return self._pace.remaining_seconds

    def spoke(self, line_id: str) -> None:
        """Remove a line that has its take."""
        take = self._project.chosen_take(line_id)
        self._audio_seconds += take.audio_seconds if take else 0.0
        self._pace.spoke(self._waiting.pop(line_id))

    def failed(self, line_id: str) -> None:
        self._pace.skipped(letters=self._waiting.pop(line_id))
