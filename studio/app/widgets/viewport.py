"""Visible time range of a waveform: zoom and scroll position, also while it grows. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

# While audio arrives, the view extends beyond it in steps: rescaling at each chunk would flicker.
_FIRST_ROOM_SECONDS = 4.0
_ROOM_GROWTH = 1.5
_SHORTEST_VIEW_SECONDS = 0.005
_LEAST_TOTAL_SECONDS = 0.1


@dataclass
class Viewport:
    """Visible range of a waveform of ``total_seconds``; initially all of it."""

    total_seconds: float = 0.0
    is_growing: bool = False
    _start_seconds: float = 0.0
    _visible_seconds: float | None = None  # None: all

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
        """Length of the waveform, plus reserve while it grows."""
        if not self.is_growing:
            return max(_LEAST_TOTAL_SECONDS, self.total_seconds)
        room = _FIRST_ROOM_SECONDS
        while room < self.total_seconds:
            room *= _ROOM_GROWTH
        return room

    def fit(self) -> None:
        self._start_seconds, self._visible_seconds = 0.0, None

    def show(self, start_seconds: float, end_seconds: float) -> None:
        visible = max(_SHORTEST_VIEW_SECONDS, end_seconds - start_seconds)
        if visible >= self.room_seconds:
            self.fit()
        else:
            self._visible_seconds = visible
            self.scroll_to(start_seconds)

    def zoom(self, factor: float, around_seconds: float) -> None:
        """Zoom in by ``factor`` (out below 1), keeping ``around_seconds`` at the same pixel."""
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
