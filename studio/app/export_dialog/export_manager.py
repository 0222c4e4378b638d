"""The exports of the program. One runs at a time; others wait for it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from studio.app.background import in_background
from studio.app.export_dialog.export_options import ExportOrder
from studio.app.export_dialog.export_task import ExportState, ExportTask, SpeechQueue


class ExportManager(QObject):
    """Runs exports in the background. Belongs to the GUI thread and outlives the window."""

    changed = Signal()  # the current export, or its state or progress
    ended = Signal(object)  # ExportTask that is over, or undecided because lines failed

    def __init__(self, queue: SpeechQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._tasks: list[ExportTask] = []

    @property
    def current(self) -> ExportTask | None:
        """The running export, else the latest one."""
        running = (task for task in self._tasks if task.state.is_running)
        return next(running, self._tasks[-1] if self._tasks else None)

    @property
    def num_waiting(self) -> int:
        return sum(task.state is ExportState.WAITING for task in self._tasks)

    @property
    def is_busy(self) -> bool:
        """Whether an export is running, waiting or undecided."""
        return any(not task.state.is_over for task in self._tasks)

    def start(self, order: ExportOrder) -> ExportTask:
        """Begin an export, or let it wait for the running one."""
        self._forget_finished()
        task = ExportTask(order, self._queue, self)
        self._tasks.append(task)
        task.changed.connect(self.changed)
        task.ended.connect(lambda: self._on_ended(task))
        self._start_next()
        self.changed.emit()
        return task

    def cancel_all(self) -> None:
        """Cancel all exports, for example because another project is opened."""
        for task in list(self._tasks):
            task.cancel()

    async def finished(self) -> None:
        """Wait until no file is being written."""
        for task in list(self._tasks):
            await in_background(task.wait_until_written)

    def _on_ended(self, task: ExportTask) -> None:
        self.ended.emit(task)
        self._start_next()

    def _start_next(self) -> None:
        if any(task.state.is_running for task in self._tasks):
            return
        waiting = next((task for task in self._tasks if task.state is ExportState.WAITING), None)
        if waiting is not None:
            waiting.begin()

    def _forget_finished(self) -> None:
        for task in [task for task in self._tasks if task.state.is_over]:
            self._tasks.remove(task)
            task.deleteLater()
