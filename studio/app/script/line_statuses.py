"""Transient status of lines: queued, being spoken or failed. Not part of the project."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject, Signal

from studio.errors import StudioError
from studio.pipeline.request import LengthVerdict
from studio.project.lines import LineState
from studio.project.takes import Take


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


def odd_length_warning(take: Take) -> str:
    """Return the warning; empty for a plausible length."""
    match take.parameters.odd_length:
        case LengthVerdict.TOO_LONG:
            return QCoreApplication.translate(
                "OddLength",
                "This take is longer than expected for its text. Listen to it and keep it, or speak the line again.",
            )
        case LengthVerdict.TOO_SHORT:
            return QCoreApplication.translate(
                "OddLength",
                "This take is shorter than expected for its text. Listen to it and keep it, or speak the line again.",
            )
    return ""
