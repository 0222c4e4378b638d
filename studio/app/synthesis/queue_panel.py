"""Panel with the synthesis queue."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.app.error_text import format_error
from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
from studio.app.theme.icons import icon
from studio.app.translation import duration_text, join_phrases
from studio.app.widgets.controls import in_column, in_row
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.screen_fit import MIN_LIST_PIXELS

_TEXT_CHARACTERS = 120
_PROGRESS_PIXELS = 100
_BUTTON_PIXELS = 60  # of a button besides its words
_SUMMARY_LETTERS = 24
_ICONS = {
    JobState.WAITING: "state-queued",
    JobState.SPEAKING: "state-speaking",
    JobState.DONE: "state-ready",
    JobState.FAILED: "state-failed",
    JobState.CANCELLED: "stop",
}


class QueuePanel(QWidget):
    """List of the jobs with their states, progress and errors."""

    def __init__(self, queue: SynthesisQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._items: dict[SynthesisJob, QTreeWidgetItem] = {}
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("Queue"))
        self._list.setMinimumHeight(MIN_LIST_PIXELS)
        self._list.setHeaderLabels([self.tr("State"), self.tr("Progress"), self.tr("Text")])
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._row_size = QSize(0, QProgressBar().sizeHint().height())
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self._list.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setResizeContentsPrecision(0)  # only of the visible rows
        self._list.setColumnWidth(1, _PROGRESS_PIXELS)
        self._summary = ElidedLabel()
        self._summary.setProperty("role", "quiet")
        self._copy = CopyReportButton()
        self._retry = QPushButton(icon("retry"), self.tr("Try again"))
        self._cancel = QPushButton(icon("close"), self.tr("Cancel"))
        self._clear = QPushButton(icon("remove"), self.tr("Clear finished"))
        self._buttons = {button: button.text() for button in (self._retry, self._cancel, self._clear)}
        for button, words in self._buttons.items():
            button.setAccessibleName(words)
            button.setToolTip(words)
        foot = in_row((self._summary, 1), self._copy, *self._buttons)
        in_column((self._list, 1), foot, parent=self, margins=8)
        self._update_timer = QTimer(self, singleShot=True)  # combines many changes into one update
        self._update_timer.timeout.connect(self._show_summary)
        queue.jobs_added.connect(self._on_added)
        queue.job_changed.connect(self._on_changed)
        queue.jobs_removed.connect(self._on_removed)
        queue.became_idle.connect(self._update_timer.start)
        self._retry.clicked.connect(lambda: self._for_chosen(queue.retry))
        self._cancel.clicked.connect(lambda: self._for_chosen(queue.cancel))
        self._clear.clicked.connect(queue.clear_finished)
        self._list.itemSelectionChanged.connect(self._show_buttons)
        self._list.customContextMenuRequested.connect(self._open_menu)
        self._on_added(list(queue.jobs), 0)
        self._show_summary()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show only the icons of the buttons where their words would leave no space for the summary."""
        super().resizeEvent(event)
        metrics = self.fontMetrics()
        needed = sum(metrics.horizontalAdvance(words) + _BUTTON_PIXELS for words in self._buttons.values())
        is_narrow = self.width() < needed + _SUMMARY_LETTERS * metrics.averageCharWidth()
        for button, words in self._buttons.items():
            button.setText("" if is_narrow else words)

    def _on_added(self, jobs: list[SynthesisJob], position: int) -> None:
        items = [QTreeWidgetItem() for _ in jobs]
        for job, item in zip(jobs, items, strict=True):
            self._items[job] = item
            item.setData(0, Qt.ItemDataRole.UserRole, job)
            item.setSizeHint(1, self._row_size)
        self._list.insertTopLevelItems(position, items)
        for job in jobs:
            self._on_changed(job)

    def _on_changed(self, job: SynthesisJob) -> None:
        item = self._items.get(job)
        if item is None:
            return
        item.setText(0, self._state_text(job))
        item.setIcon(0, icon(_ICONS[job.state]))
        item.setToolTip(0, format_error(job.error) if job.error else "")
        item.setText(2, format_error(job.error) if job.error else job.text[:_TEXT_CHARACTERS])
        item.setToolTip(2, job.text)
        self._show_progress(job, item)
        self._update_timer.start()

    def _show_progress(self, job: SynthesisJob, item: QTreeWidgetItem) -> None:
        """Show a progress bar for running jobs only: creating thousands would take seconds."""
        bar = self._list.itemWidget(item, 1)
        if job.state is not JobState.SPEAKING:
            if bar is not None:
                self._list.removeItemWidget(item, 1)
            item.setText(1, f"{job.share:.0%}" if job.share else "")
            return
        if not isinstance(bar, QProgressBar):
            bar = QProgressBar(maximum=100)
            bar.setTextVisible(True)
            bar.setAccessibleName(self.tr("Progress"))
            item.setText(1, "")
            self._list.setItemWidget(item, 1, bar)
            if not self._list.selectedItems():  # do not scroll the selection out of view
                self._list.scrollToItem(item)
        bar.setMaximum(100 if job.share else 0)
        bar.setValue(round(100 * job.share))

    def _on_removed(self, jobs: list[SynthesisJob]) -> None:
        for job in jobs:
            item = self._items.pop(job, None)
            if item is not None:
                self._list.takeTopLevelItem(self._list.indexOfTopLevelItem(item))
        self._update_timer.start()

    def _state_text(self, job: SynthesisJob) -> str:
        if job.state is JobState.SPEAKING:
            stages = {
                "load": self.tr("Loading the model"),
                "voice": self.tr("Preparing the voice"),
                "connect": self.tr("Connecting again"),
            }
            return stages.get(job.stage, self.tr("Speaking"))
        states = {
            JobState.WAITING: self.tr("Queued"),
            JobState.DONE: self.tr("Done"),
            JobState.FAILED: self.tr("Failed"),
            JobState.CANCELLED: self.tr("Stopped"),
        }
        return states[job.state]

    def _chosen(self) -> list[SynthesisJob]:
        """Return the selected jobs, from top to bottom."""
        rows = sorted(self._list.selectionModel().selectedRows())
        return [row.data(Qt.ItemDataRole.UserRole) for row in rows]

    def _for_chosen(self, command: Callable[[SynthesisJob], None]) -> None:
        for job in self._chosen():
            command(job)

    def _show_buttons(self) -> None:
        chosen = self._chosen()
        self._retry.setEnabled(any(job.state.is_over for job in chosen))
        self._cancel.setEnabled(any(not job.state.is_over for job in chosen))
        self._clear.setEnabled(any(job.state.is_over for job in self._queue.jobs))
        self._copy.offer_for(next((job.error for job in chosen if job.error is not None), None))

    def _show_summary(self) -> None:
        self._show_buttons()
        num_left = sum(not job.state.is_over for job in self._queue.jobs)
        if not num_left:
            self._summary.setText(self.tr("The queue is empty."))
            return
        parts = [self.tr("%n line(s) left", "", num_left)]
        seconds = self._queue.remaining_seconds
        if seconds is not None:
            parts.append(self.tr("about {time}").format(time=duration_text(seconds)))
        self._summary.setText(join_phrases(parts))

    def _open_menu(self) -> None:
        menu = QMenu(self)
        for button, words in self._buttons.items():
            action = menu.addAction(button.icon(), words)
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        menu.popup(self.cursor().pos())
