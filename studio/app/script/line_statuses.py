"""What is at work right now: the part of a line's state that no file holds."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from studio.errors import StudioError
from studio.project.lines import LineState


@dataclass(frozen=True, slots=True)
class LineStatus:
    """QUEUED, SPEAKING (``share`` of it is done, 0..1) or FAILED (``error`` tells why)."""

    state: LineState
    share: float = 0.0
    error: StudioError | None = None


class LineStatusStore(QObject):
    """Of the lines that have one."""

    changed = Signal(str)  # line id

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._states: dict[str, LineStatus] = {}

    def of(self, line_id: str) -> LineStatus | None:
        return self._states.get(line_id)

    def set(self, line_id: str, state: LineStatus | None) -> None:
        if self._states.get(line_id) == state:
            return
        if state is None:
            del self._states[line_id]
        else:
            self._states[line_id] = state
        self.changed.emit(line_id)

    def clear(self) -> None:
        for line_id in list(self._states):
            self.set(line_id, None)
