"""Shows the exports in the window: a button in the status bar, the details, and a notice at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QToolButton, QWidget

from studio.app.export_dialog.details_dialog import ExportDetails
from studio.app.export_dialog.export_manager import ExportManager
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.app.export_dialog.task_text import figures_text, phase_text
from studio.app.notifications import NotificationBar
from studio.app.theme.icons import icon
from studio.app.translation import join_phrases, join_sentences
from studio.app.widgets.dialogs import bring_to_front


class ExportController(QObject):
    """Connects the ``exports`` with the window. ``show_lines`` selects lines in the script."""

    def __init__(
        self,
        exports: ExportManager,
        notices: NotificationBar,
        window: QWidget,
        show_lines: Callable[[list[str]], object],
    ) -> None:
        super().__init__(window)
        self._exports = exports
        self._notices = notices
        self._window = window
        self._show_lines = show_lines
        self.details: ExportDetails | None = None
        self.chip = QToolButton(autoRaise=True)
        self.chip.setIcon(icon("export"))
        self.chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.chip.clicked.connect(self.open_details)
        exports.changed.connect(self._show_chip)
        exports.ended.connect(self._on_ended)
        self._show_chip()

    def open_details(self) -> None:
        """Show the current export."""
        task = self._exports.current
        if task is None:
            return
        if self.details is None or self.details.task is not task:
            self.details = ExportDetails(task, self._window)
            self.details.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.details.lines_wanted.connect(self._show_lines)
            self.details.finished.connect(self._forget_details)
        bring_to_front(self.details)

    def _forget_details(self) -> None:
        self.details = None

    def _show_chip(self) -> None:
        task = self._exports.current
        is_shown = task is not None and not task.state.is_over
        self.chip.setVisible(is_shown)
        if task is None or not is_shown:
            return
        match task.state:
            case ExportState.PAUSED:
                words = self.tr("Export paused")
            case ExportState.UNDECIDED:
                words = self.tr("Export: %n line(s) failed", "", len(task.failures))
            case _:
                words = self.tr("Exporting {percent}%").format(percent=round(100 * task.share))
        if self._exports.num_waiting:
            words += f" (+{self._exports.num_waiting})"
        self.chip.setText(words)
        tip = " · ".join(filter(None, (task.order.name, phase_text(task), figures_text(task))))
        self.chip.setToolTip(tip)
        self.chip.setAccessibleName(join_phrases((words, tip)))

    def _on_ended(self, task: ExportTask) -> None:
        self._show_chip()
        if self.details is not None and self.details.task is task and self.details.isVisible():
            return  # the open dialog shows the result
        match task.state:
            case ExportState.DONE if task.result is not None:
                words = [self.tr("%n file(s) exported.", "", len(task.result.files))]
                if task.failures:
                    words.append(self.tr("%n line(s) missing.", "", len(task.failures)))
                if task.num_to_review:
                    words.append(self.tr("%n line(s) with problems.", "", task.num_to_review))
                if task.num_silent:
                    words.append(self.tr("%n sound(s) or direction(s) not exported.", "", task.num_silent))
                if task.num_too_long:
                    words.append(self.tr("%n line(s) too long for the slot.", "", task.num_too_long))
                folder = task.order.folder
                offer, call = self.tr("Show folder"), lambda: _open_folder(folder)
                if task.order.settings.standard is not None:  # its verdicts are what the user waits for
                    offer, call = self.tr("Show levels…"), self.open_details
                self._notices.show_hint(join_sentences(words), offer=offer, call=call, is_about_script=True)
            case ExportState.UNDECIDED:
                words = [
                    self.tr("%n line(s) could not be spoken.", "", len(task.failures)),
                    self.tr("Nothing has been exported yet."),
                ]
                hint, offer = join_sentences(words), self.tr("Show…")
                self._notices.show_hint(hint, offer=offer, call=self.open_details, is_about_script=True)
            case ExportState.FAILED if task.error is not None:
                self._notices.show_error(task.error, offer=self.tr("Show…"), call=self.open_details)


def _open_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
