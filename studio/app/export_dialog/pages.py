"""Parts of the export dialog besides the form: name preview, progress, result, and the question about other files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListView,
    QListWidget,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.error_text import error_hint, error_message, format_error
from studio.app.export_dialog.export_options import PreviewedNames
from studio.app.translation import duration_text, join_sentences
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError
from studio.export.exporter import ExportResult
from studio.export.progress import ExportProgress, Pace
from studio.health.log_file import note_shown
from studio.project.project import Project

_LEAST_SECONDS = 1.0  # the speed is unknown before this much time has passed
_STEPS = 1000
_MAX_NAMES = 5


@paints_safely
class _Names(QStringListModel):
    """List of file names that are also their tool tips, because long ones are cut."""

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return super().data(index, Qt.ItemDataRole.DisplayRole if role == Qt.ItemDataRole.ToolTipRole else role)


class NamePreview(QWidget):
    """List of the file names that an export creates, or the reason why there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = _Names(self)
        self.list = QListView()
        self.list.setModel(self._names)
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.list.setMinimumWidth(240)
        self.list.setAccessibleName(self.tr("File names"))
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.problem = ErrorLine()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(self.label)
        rows.addWidget(self.problem)
        rows.addWidget(self.list, 1)

    def show_names(self, names: PreviewedNames) -> None:
        self.problem.clear()
        self.label.show()
        self.label.setText(self.tr("%n file(s):", "", names.num_files))
        more = (self.tr("… and %n more line(s)", "", names.num_more),) if names.num_more else ()
        self._names.setStringList([*map(str, names.line_files), *more, *map(str, names.script_files)])

    def show_problem(self, error: StudioError) -> None:
        self.label.hide()
        self.problem.show_error(error)
        self._names.setStringList([])


class PendingLines:
    """The lines that must be synthesised before an export. They may finish in any order."""

    def __init__(
        self, project: Project, line_ids: Sequence[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._project = project
        self._waiting = {line_id: len(project.line(line_id).text) for line_id in line_ids}  # number of characters
        self.num_lines = len(self._waiting)
        self._audio_seconds = 0.0
        self._pace = Pace(letters_to_speak=sum(self._waiting.values()), lines_to_write=0, clock=clock)

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
        """Seconds of audio synthesised per second, or None if the speed is not known yet."""
        elapsed = self._pace.elapsed_seconds
        return self._audio_seconds / elapsed if elapsed > _LEAST_SECONDS and self._audio_seconds else None

    @property
    def remaining_seconds(self) -> float | None:
        return self._pace.remaining_seconds

    def spoke(self, line_id: str) -> None:
        """Remove a line whose take is complete."""
        take = self._project.chosen_take(line_id)
        self._audio_seconds += take.audio_seconds if take else 0.0
        self._pace.spoke(self._waiting.pop(line_id))

    def failed(self, line_id: str) -> None:
        self._pace.skipped(letters=self._waiting.pop(line_id))


class ProgressPage(QWidget):
    """Progress of an export: bar, current line, speed, remaining time, and a cancel button."""

    cancel_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setAccessibleName(self.tr("Export progress"))
        self.line = ElidedLabel()
        self.figures = QLabel()
        self.figures.setProperty("role", "quiet")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.cancel_clicked)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addStretch(1)
        for widget in (self.title, self.bar, self.line, self.figures):
            rows.addWidget(widget)
        rows.addStretch(2)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        rows.addLayout(buttons)

    def show_checking(self) -> None:
        self.cancel.setEnabled(True)
        self.title.setText(self.tr("Checking folder"))
        self.bar.setValue(0)
        self.line.setText("")
        self.figures.setText("")

    def show_speaking(self, lines: PendingLines) -> None:
        """Show the progress of the synthesis of missing lines."""
        num_done, num_lines = lines.num_done, lines.num_lines
        self.cancel.setEnabled(True)
        self.title.setText(self.tr("Speaking line {number} of {count}").format(number=num_done + 1, count=num_lines))
        self.bar.setValue(_STEPS * num_done // max(1, num_lines))
        self.line.setText("")
        self._show_figures(lines.speed, lines.remaining_seconds)

    def show_progress(self, progress: ExportProgress) -> None:
        self.bar.setValue(round(_STEPS * progress.share))
        if progress.item is not None:
            words = self.tr("Writing line {number} of {count}")
            self.title.setText(words.format(number=progress.num_done + 1, count=progress.num_lines))
            self.line.setText(progress.item.text)
        else:
            self.title.setText(self.tr("Joining lines"))
            self.line.setText("")
        self._show_figures(progress.speed, progress.remaining_seconds)

    def show_cancelling(self) -> None:
        self.title.setText(self.tr("Cancelling…"))
        self.cancel.setEnabled(False)

    def _show_figures(self, speed: float | None, remaining_seconds: float | None) -> None:
        figures = []
        if speed is not None:
            figures.append(self.tr("{speed}x real time").format(speed=f"{speed:.1f}"))
        if remaining_seconds is not None:
            figures.append(self.tr("{time} left").format(time=duration_text(remaining_seconds)))
        self.figures.setText(" · ".join(figures))


class ReplaceQuestion(QMessageBox):
    """Question before an export replaces files of another script or program.

    Emits ``confirmed`` or ``cancelled``, then deletes itself.
    """

    confirmed = Signal()
    cancelled = Signal()

    def __init__(self, folder: Path, files: Sequence[PurePosixPath], parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.Warning)
        self.setWindowTitle(self.tr("Replace files"))
        self.setText(self.tr("Replace %n file(s)?", "", len(files)))
        names = "\n".join(str(file) for file in files[:_MAX_NAMES])
        more = self.tr("and %n more", "", len(files) - _MAX_NAMES) if len(files) > _MAX_NAMES else ""
        reason = self.tr(
            "These files in {folder} belong to another script or other lines, or were changed after the export:"
        )
        self.setInformativeText("\n".join(filter(None, (reason.format(folder=folder), names, more))))
        self._replace = self.addButton(self.tr("Replace"), QMessageBox.ButtonRole.DestructiveRole)
        self.setDefaultButton(self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        self.finished.connect(self._on_finished)

    def _on_finished(self, _: int) -> None:
        self.deleteLater()
        (self.confirmed if self.clickedButton() is self._replace else self.cancelled).emit()


class ResultPage(QWidget):
    """Result of an export: the files in ``folder``, or the error, and the lines that failed.

    "Copy report" copies the report of the selected error.
    """

    back_clicked = Signal()
    close_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.folder = Path()
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

    def show_result(self, result: ExportResult) -> None:
        num_kept = len(result.files) - result.num_made
        details = [self.tr("%n file(s) written.", "", result.num_made)]
        if num_kept:
            details.append(self.tr("%n file(s) up to date.", "", num_kept))
        if result.failures:
            title = self.tr("%n line(s) could not be exported", "", len(result.failures))
        else:
            title = self.tr("Export finished")
        self.show_outcome(title, join_sentences(details))
        words = self.tr("Line {number}: {error}")
        self._list(
            [words.format(number=each.item.index, error=format_error(each.error)) for each in result.failures],
            [each.error for each in result.failures],
        )

    def show_error(self, error: StudioError) -> None:
        self.show_outcome(error_message(error), error_hint(error))
        self._list([], [error])

    def show_unspoken(self, title: str, errors: Sequence[StudioError]) -> None:
        """Show why lines could not be synthesised, each error once."""
        self.show_outcome(title, "")
        different = {format_error(error): error for error in errors}
        self._list(list(different), list(different.values()))

    def show_cancelled(self) -> None:
        self.show_outcome(
            self.tr("Export cancelled"), self.tr("Finished files are kept; the next export continues from there.")
        )

    def show_outcome(self, title: str, details: str) -> None:
        self.title.setText(title)
        self.details.setText(details)
        self.place.setText(str(self.folder))
        self.open_folder.setEnabled(self.folder.is_dir())
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
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.folder)))
