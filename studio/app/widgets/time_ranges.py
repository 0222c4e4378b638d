"""Time ranges of the waveform view: the visible part, even while audio arrives, and the selected part. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

# While audio arrives, the time axis is extended in steps, because rescaling at each chunk would flicker.
_FIRST_ROOM_SECONDS = 4.0
_ROOM_GROWTH = 1.5
_MIN_VIEW_SECONDS = 0.005
_MIN_TOTAL_SECONDS = 0.1


@dataclass
class Viewport:
    """Visible range of a waveform of ``total_seconds``. Initially, the whole waveform is visible."""

    total_seconds: float = 0.0
    is_growing: bool = False
    _start_seconds: float = 0.0
    _visible_seconds: float | None = None  # None: the whole waveform

    @property
    def is_fitting(self) -> bool:
        return self._visible_seconds is None

    @property
    def start_seconds(self) -> float:
        return 0.0 if self.is_fitting else self._start_seconds

    @property
    def end_seconds(self) -> float:
        return self.start_seconds + self.visible_seconds

    @property
    def visible_seconds(self) -> float:
        return self.room_seconds if self._visible_seconds is None else self._visible_seconds

    @property
    def room_seconds(self) -> float:
        """Length of the time axis: the waveform, and empty space after it while audio arrives."""
        if not self.is_growing:
            return max(_MIN_TOTAL_SECONDS, self.total_seconds)
        room = _FIRST_ROOM_SECONDS
        while room < self.total_seconds:
            room *= _ROOM_GROWTH
        return room

    def fit(self) -> None:
        self._start_seconds, self._visible_seconds = 0.0, None

    def show(self, start_seconds: float, end_seconds: float) -> None:
        visible = max(_MIN_VIEW_SECONDS, end_seconds - start_seconds)
        if visible >= self.room_seconds:
            self.fit()
        else:
            self._visible_seconds = visible
            self.scroll_to(start_seconds)

    def zoom(self, factor: float, around_seconds: float) -> None:
        """Zoom in by ``factor``, or out if it is below 1, and keep ``around_seconds`` at the same pixel."""
        share = (around_seconds - self.start_seconds) / self.visible_seconds
        visible = self.visible_seconds / factor
        start = around_seconds - share * visible
        self.show(start, start + visible)

    def scroll_to(self, start_seconds: float) -> None:
        if self._visible_seconds is not None:
            self._start_seconds = min(max(0.0, start_seconds), max(0.0, self.room_seconds - self._visible_seconds))

    def reveal(self, seconds: float) -> bool:
        """Scroll by a page if ``seconds`` is not visible; return whether the view moved."""
        if self.is_fitting or self.start_seconds <= seconds <= self.end_seconds:
            return False
        before = self.start_seconds
        self.scroll_to(seconds - 0.05 * self.visible_seconds)
        return self.start_seconds != before


class Handle(Enum):
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class ClipSelection:
    """Selected range of a recording of ``total_seconds``.

    Its length stays between ``shortest_seconds`` and ``longest_seconds``.
    """

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
        """Return the range with ``handle`` moved as close to ``seconds`` as the limits allow."""
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
        return replace(self, start_seconds=start_seconds, end_seconds=min(end_seconds, self.total_seconds))
