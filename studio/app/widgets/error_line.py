"""Error message in a dialog, with a button that copies a report of the error."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from studio.app.error_text import format_error
from studio.app.widgets.controls import in_row, text_label
from studio.app.widgets.copy_report import CopyReportButton
from studio.errors import StudioError
from studio.health.log_file import note_shown


class ErrorLine(QWidget):
    """Error message, hidden while there is no error. Each shown error is recorded for the diagnostics."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._error: StudioError | None = None
        self._words = text_label("", "bad", is_selectable=True)
        self.copy_report = CopyReportButton()
        row = in_row((self._words, 1), parent=self, margins=0)
        row.addWidget(self.copy_report, 0, Qt.AlignmentFlag.AlignTop)
        self.clear()

    @property
    def words(self) -> str:
        """The displayed text, or an empty string."""
        return self._words.text()

    def show_error(self, error: StudioError | None) -> None:
        """Show ``error`` instead of the current one. None clears it."""
        before = self._error
        # While the user types or drags, the same kind of error occurs repeatedly; record it once.
        if error is not None and (before is None or before.code != error.code):
            note_shown(error)
        if error is not None and str(error) != str(before):
            self.copy_report.offer_for(error)
        self._error = error
        words = "" if error is None else format_error(error)
        self._words.setText(words)
        self.setAccessibleName(words)
        self.setVisible(error is not None)

    def clear(self) -> None:
        self.show_error(None)
