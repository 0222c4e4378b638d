"""Status of lines that is not saved in the project: queued, being spoken or failed, and warnings about take lengths."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject, Signal

from studio.errors import StudioError
from studio.pipeline.request import LengthVerdict
from studio.project.lines import LineState
from studio.project.takes import Take


@dataclass(frozen=True, slots=True)
class LineStatus:
    """Status that is not saved with the project."""

    state: LineState  # QUEUED, SPEAKING or FAILED; CHECK if the model has not learned the line's language
    share: float = 0.0  # progress while SPEAKING, 0..1
    error: StudioError | None = None  # set if FAILED or CHECK


class LineStatusStore(QObject):
    """Statuses by line id."""

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
    """Return a warning about a take that is too short or too long for its text; empty for a plausible length."""
    if take.parameters.odd_length is LengthVerdict.TOO_LONG:
        return QCoreApplication.translate(
            "OddLength",
            "This take is longer than expected for its text. Listen to it and keep it, or speak the line again.",
        )
    if take.parameters.odd_length is LengthVerdict.TOO_SHORT:
        return QCoreApplication.translate(
            "OddLength",
            "This take is shorter than expected for its text. Listen to it and keep it, or speak the line again.",
        )
    return ""
