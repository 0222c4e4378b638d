"""Selected range of a recording, with limits on its length. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Handle(Enum):
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class ClipSelection:
    """Range from ``start_seconds`` to ``end_seconds``, between ``shortest_seconds`` and ``longest_seconds`` long."""

    start_seconds: float
    end_seconds: float
    total_seconds: float
    shortest_seconds: float = 0.01
    longest_seconds: float = float("inf")

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    def at(self, handle: Handle) -> float:
        return self.start_seconds if handle is Handle.START else self.end_seconds

    def moved(self, handle: Handle, seconds: float) -> ClipSelection:
        """Return the range with one handle as near to ``seconds`` as the limits allow."""
        if handle is Handle.START:
            nearest, farthest = self.end_seconds - self.longest_seconds, self.end_seconds - self.shortest_seconds
            return self._with(min(max(seconds, nearest, 0.0), max(0.0, farthest)), self.end_seconds)
        nearest, farthest = self.start_seconds + self.shortest_seconds, self.start_seconds + self.longest_seconds
        return self._with(self.start_seconds, max(min(seconds, farthest, self.total_seconds), nearest))

    def shifted(self, seconds: float) -> ClipSelection:
        """Return the range moved by ``seconds``, kept within the recording."""
        start = min(max(0.0, self.start_seconds + seconds), max(0.0, self.total_seconds - self.seconds))
        return self._with(start, start + self.seconds)

    def _with(self, start_seconds: float, end_seconds: float) -> ClipSelection:
        end_seconds = min(end_seconds, self.total_seconds)
        return ClipSelection(
            start_seconds, end_seconds, self.total_seconds, self.shortest_seconds, self.longest_seconds
        )
