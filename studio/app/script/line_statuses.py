"""Transient status of lines: queued, being spoken or failed. Not part of the project."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from studio.errors import StudioError
from studio.project.lines import LineState


@dataclass(frozen=True, slots=True)
class LineStatus:
    """QUEUED, SPEAKING (with progress ``share``, 0..1) or FAILED (with ``error``)."""

    state: LineState
    share: float = 0.0
    error: StudioError | None = None


class LineStatusStore(QObject):
    changed = Signal(str)  # line id

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._statuses: dict[str, LineStatus] = {}

    def of(self, line_id: str) -> LineStatus | None:
        return self._statuses.get(line_id)

    def set(self, line_id: str, status: LineStatus | None) -> None:
        if self._statuses.get(line_id) == status:
            return
        if status is None:
            del self._statuses[line_id]
        else:
            self._statuses[line_id] = status
        self.changed.emit(line_id)

    def clear(self) -> None:
        for line_id in list(self._statuses):
            self.set(line_id, None)
