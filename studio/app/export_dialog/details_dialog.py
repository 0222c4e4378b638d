"""Details of an export: its progress with pause and cancel, then its result and the lines that failed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from studio.app.audiobook.levels_dialog import LevelsDialog, LevelsPanel
from studio.app.error_text import error_message, error_remedy, format_error
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.app.export_dialog.task_text import figures_text, phase_text
from studio.app.translation import join_sentences
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.export.exporter import ExportResult
from studio.export.level_check import AUDIO_SUFFIXES
from studio.export.standards import ACX
from studio.health.log_file import note_shown

_SIZE = (900, 480)
_STEPS = 1000


class ProgressPage(QWidget):
    """Progress of an export: bar, current line, figures, pause and cancel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = text_label("", "title", wraps=False)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setAccessibleName(self.tr("Export progress"))
        self.line = ElidedLabel()
        self.figures = text_label("", "quiet", wraps=False)
        self.figures.setWordWrap(True)
        self.pause = QPushButton(self.tr("Pause"))
        self.cancel = QPushButton(self.tr("Cancel export"))
        self.hide_button = QPushButton(self.tr("Continue in background"))
        make_primary(self.hide_button)
        rows = in_column(STRETCH, self.title, self.bar, self.line, self.figures, 2 * STRETCH, parent=self, margins=0)
        buttons = QHBoxLayout()
        buttons.addStretch()
        for button in (self.pause, self.cancel, self.hide_button):
            button.setAutoDefault(button is self.hide_button)
            buttons.addWidget(button)
        rows.addLayout(buttons)

    def show_task(self, task: ExportTask) -> None:
        self.title.setText(phase_text(task))
        self.bar.setValue(round(_STEPS * task.share))
        item = task.progress.item if task.progress and task.state is ExportState.WRITING else None
        self.line.setText(item.text if item else "")
        self.figures.setText(figures_text(task))
        self.pause.setVisible(task.state in (ExportState.SPEAKING, ExportState.PAUSED))
        self.pause.setText(self.tr("Resume") if task.state is ExportState.PAUSED else self.tr("Pause"))


class ResultPage(QWidget):
    """Result of an export: the files with the verdicts of their standard, or the error, and the lines that failed.

    "Copy report" copies the report of the selected error.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._task: ExportTask | None = None
        self._errors: list[StudioError] = []
        self.levels: LevelsPanel | None = None  # of finished files that have a standard
        self.title = text_label("", "title", wraps=False)
        self.title.setWordWrap(True)
        self.details = QLabel()
        self.details.setWordWrap(True)
        self.place = ElidedLabel()
        self.failures = QListWidget()
        self.failures.setAccessibleName(self.tr("Failed lines"))
        self.failures.setWordWrap(True)
        self.copy_report = CopyReportButton()
        self.open_folder = QPushButton(self.tr("Show folder"))
        self.show_lines = QPushButton(self.tr("Show these lines"))
        self.retry = QPushButton(self.tr("Try again"))
        self.check_levels = QPushButton(self.tr("Check levels…"))
        self.check_levels.clicked.connect(self._check_levels)
        self.export_others = QPushButton(self.tr("Export the others"))
        self.replace = QPushButton(self.tr("Replace files"))
        self.close_button = QPushButton(self.tr("Close"))
        make_primary(self.close_button)
        rows = in_column(self.title, self.details, self.place, parent=self, margins=0)
        rows.addWidget(self.check_levels, 0, Qt.AlignmentFlag.AlignLeft)
        rows.addWidget(self.failures, 1)
        self._levels_row = QVBoxLayout()
        rows.addLayout(self._levels_row, 1)
        rows.addStretch()
        buttons = in_row(
            self.open_folder,
            self.copy_report,
            self.show_lines,
            STRETCH,
            self.retry,
            self.export_others,
            self.replace,
            self.close_button,
        )
        for button in (
            self.open_folder,
            self.show_lines,
            self.check_levels,
            self.retry,
            self.export_others,
            self.replace,
        ):
            button.setAutoDefault(False)
            button.hide()  # until there is a result
        rows.addLayout(buttons)
        self.failures.currentRowChanged.connect(self._offer_report)

    def show_task(self, task: ExportTask) -> None:
        title, details = self._texts(task)
        self.title.setText(title)
        self.details.setText(details)
        self.details.setVisible(bool(details))
        self.place.setText(str(task.order.folder))
        self.open_folder.setVisible(task.state is not ExportState.UNDECIDED)
        self.open_folder.setEnabled(task.order.folder.is_dir())
        is_undecided = task.state is ExportState.UNDECIDED
        for button in (self.retry, self.export_others):
            button.setVisible(is_undecided)
        self.export_others.setEnabled(len(task.failures) < task.num_lines)
        self.show_lines.setVisible(bool(task.failures))
        self._task = task
        self.check_levels.setVisible(task.result is not None and task.order.settings.standard is None)
        if task.result is not None and task.order.settings.standard is not None and self.levels is None:
            self.levels = LevelsPanel(_audio_files(task.result), task.order.settings.standard.name)
            self.levels.choice.hide()
            self._levels_row.addWidget(self.levels)
        self.replace.setVisible(bool(task.conflicting_files))
        words = self.tr("Line {number}: {error}")
        self._list(
            [words.format(number=line.item.index, error=format_error(error)) for line, error in task.failures.values()],
            [error for _, error in task.failures.values()] or ([task.error] if task.error else []),
        )

    def _check_levels(self) -> None:
        task = self._task
        if task is None or task.result is None:
            return
        dialog = LevelsDialog(_audio_files(task.result), ACX.name, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def _texts(self, task: ExportTask) -> tuple[str, str]:
        """Return the title and the details."""
        num_failed = len(task.failures)
        if task.state is ExportState.UNDECIDED:
            details = [self.tr("Nothing has been exported yet.")]
            if task.order.settings.joined_name is not None:
                details.append(self.tr("If you export the others, these lines are missing from the joined file."))
            return self.tr("%n line(s) could not be spoken", "", num_failed), join_sentences(details)
        if task.error is not None:
            return error_message(task.error), error_remedy(task.error)
        if task.result is None:
            kept = self.tr("Finished files are kept; the next export continues from there.")
            return self.tr("Export cancelled"), kept
        details = [self.tr("%n file(s) written.", "", task.result.num_made)]
        num_kept = len(task.result.files) - task.result.num_made
        if num_kept:
            details.append(self.tr("%n file(s) up to date.", "", num_kept))
        if task.num_to_review:
            details.append(self.tr("%n line(s) with problems.", "", task.num_to_review))
        if task.num_silent:
            details.append(self.tr("%n sound(s) or direction(s) not exported.", "", task.num_silent))
        if task.num_too_long:
            details.append(self.tr("%n line(s) too long for the slot.", "", task.num_too_long))
        if num_failed:
            details.append(self.tr("%n line(s) missing:", "", num_failed))
        return self.tr("Export finished"), join_sentences(details)

    def _list(self, sentences: list[str], errors: list[StudioError]) -> None:
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


def _audio_files(result: ExportResult) -> list[Path]:
    return [path for path in result.files if path.suffix.lower() in AUDIO_SUFFIXES]


class ExportDetails(QDialog):
    """Non-modal dialog about one export. Closing it does not end the export."""

    lines_wanted = Signal(list)  # ids of lines to show in the script

    def __init__(self, task: ExportTask, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._task = task
        self.setWindowTitle(self.tr("Export of {name}").format(name=task.order.name))
        self.resize(fit_to_screen(*_SIZE))
        self.progress = ProgressPage()
        self.outcome = ResultPage()
        self.pages = QStackedWidget()
        for page in (self.progress, self.outcome):
            self.pages.addWidget(page)
        QVBoxLayout(self).addWidget(self.pages)
        self.progress.hide_button.setFocus()
        self.progress.pause.clicked.connect(self._toggle_pause)
        self.progress.cancel.clicked.connect(task.cancel)
        self.progress.hide_button.clicked.connect(self.accept)
        self.outcome.open_folder.clicked.connect(self._open_folder)
        self.outcome.show_lines.clicked.connect(lambda: self.lines_wanted.emit(list(task.failures)))
        self.outcome.retry.clicked.connect(task.retry_failed)
        self.outcome.export_others.clicked.connect(task.export_others)
        self.outcome.replace.clicked.connect(task.replace_files)
        self.outcome.close_button.clicked.connect(self.accept)
        task.changed.connect(self._show)
        task.destroyed.connect(self.reject)
        self._show()

    @property
    def task(self) -> ExportTask:
        return self._task

    def _show(self) -> None:
        is_at_rest = self._task.state.is_over or self._task.state is ExportState.UNDECIDED
        if not is_at_rest:
            self.progress.show_task(self._task)
            self.pages.setCurrentWidget(self.progress)
        else:
            self.outcome.show_task(self._task)
            self.pages.setCurrentWidget(self.outcome)

    def _toggle_pause(self) -> None:
        if self._task.state is ExportState.PAUSED:
            self._task.resume()
        else:
            self._task.pause()

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._task.order.folder)))
