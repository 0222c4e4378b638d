"""Result of an export: the files, or the error, and the lines that failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListWidget, QPushButton, QVBoxLayout, QWidget

from studio.app.error_text import error_hint, error_message, format_error
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.elided_label import ElidedLabel
from studio.errors import StudioError
from studio.export.exporter import ExportResult
from studio.health.log_file import note_shown


class ResultPage(QWidget):
    """Shows a result or errors. "Copy report" copies the report of the selected error."""

    back_clicked = Signal()
    close_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = Path()
        self._errors: Sequence[StudioError] = ()
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self.details = QLabel()
        self.details.setWordWrap(True)
        self.place = ElidedLabel()
        self.failures = QListWidget()
        self.failures.setAccessibleName(self.tr("Failed lines"))
        self.failures.setWordWrap(True)
        self.copy_report = CopyReportButton()
        self.open_folder = QPushButton(self.tr("Open folder"))
        self.back = QPushButton(self.tr("Back"))
        self.close_button = QPushButton(self.tr("Close"))
        self.close_button.setDefault(True)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        for widget in (self.title, self.details, self.place):
            rows.addWidget(widget)
        rows.addWidget(self.failures, 1)
        rows.addStretch()
        buttons = QHBoxLayout()
        for button in (self.open_folder, self.back, self.close_button):
            button.setAutoDefault(button is self.close_button)
            buttons.addWidget(button)
        buttons.insertWidget(1, self.copy_report)
        buttons.insertStretch(2)
        rows.addLayout(buttons)
        self.failures.currentRowChanged.connect(self._offer_report)
        self.open_folder.clicked.connect(self._open_folder)
        self.back.clicked.connect(self.back_clicked)
        self.close_button.clicked.connect(self.close_clicked)

    def show_result(self, result: ExportResult, folder: Path) -> None:
        num_kept = len(result.files) - result.num_made
        details = [self.tr("%n file(s) written.", "", result.num_made)]
        if num_kept:
            details.append(self.tr("%n file(s) up to date.", "", num_kept))
        if result.failures:
            self._show(self.tr("%n line(s) could not be exported", "", len(result.failures)), " ".join(details), folder)
        else:
            self._show(self.tr("Export finished"), " ".join(details), folder)
        words = self.tr("Line {number}: {error}")
        self._list(
            [words.format(number=each.item.index, error=format_error(each.error)) for each in result.failures],
            [each.error for each in result.failures],
        )

    def show_error(self, error: StudioError, folder: Path) -> None:
        self._show(error_message(error), error_hint(error), folder)
        self._list([], [error])

    def show_problem(self, title: str, details: str, folder: Path) -> None:
        """Show a problem in the window's own words."""
        self._show(title, details, folder)

    def show_unspoken(self, title: str, errors: Sequence[StudioError], folder: Path) -> None:
        """Show why lines could not be synthesised, each error once."""
        self._show(title, "", folder)
        different = {format_error(error): error for error in errors}
        self._list(list(different), list(different.values()))

    def show_cancelled(self, folder: Path) -> None:
        self._show(
            self.tr("Export cancelled"),
            self.tr("Finished files are kept; the next export continues from there."),
            folder,
        )

    def _show(self, title: str, details: str, folder: Path) -> None:
        self._folder = folder
        self.title.setText(title)
        self.details.setText(details)
        self.place.setText(str(folder))
        self.open_folder.setEnabled(folder.is_dir())
        self._list([], [])

    def _list(self, sentences: list[str], errors: Sequence[StudioError]) -> None:
        self._errors = errors
        for error in errors:
            note_shown(error)
        self.failures.clear()
        self.failures.addItems(sentences)
        self.failures.setVisible(bool(sentences))
        self.failures.setCurrentRow(0)
        self._offer_report(0)

    def _offer_report(self, row: int) -> None:
        self.copy_report.offer_for(self._errors[row] if 0 <= row < len(self._errors) else None)

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))
