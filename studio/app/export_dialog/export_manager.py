"""Manager of the exports. One runs at a time; others wait."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_background, run_in_thread
from studio.app.export_dialog.export_options import ExportOrder
from studio.app.export_dialog.export_records import ExportRecords
from studio.app.export_dialog.export_task import ExportState, ExportTask, SpeechQueue


class ExportManager(QObject):
    """Runs exports in the background. Belongs to the GUI thread and outlives the window."""

    changed = Signal()  # the current export, or its state or progress
    started = Signal(object)  # ExportTask
    ended = Signal(object)  # ExportTask that ended, or waits for a decision because lines failed

    def __init__(
        self,
        queue: SpeechQueue,
        parent: QObject | None = None,
        *,
        records: Path | None = None,
        waits_for: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """``records`` is the folder with the records of running exports; without it, none are written.

        ``waits_for`` returns whether exports wait for the checks of a batch of jobs, until ``take_settled``.
        """
        super().__init__(parent)
        self._waits_for = waits_for
        self._queue = queue
        self._records = None if records is None else ExportRecords(records)
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
        task = ExportTask(order, self._queue, self, waits_for=self._waits_for)
        self._tasks.append(task)
        task.changed.connect(self.changed)
        task.ended.connect(lambda: self._on_ended(task))
        self._keep_record(task)
        self.started.emit(task)
        self._start_next()
        self.changed.emit()
        return task

    def take_settled(self, batch: int, take_id: str) -> None:
        """Tell the exports that the checks of a batch have ended, and which take is the best."""
        for task in list(self._tasks):
            task.take_settled(batch, take_id)

    def cancel_all(self) -> None:
        """Cancel all exports, for example because another project is opened."""
        for task in list(self._tasks):
            task.cancel()

    async def finished(self) -> None:
        """Wait until no file is being written."""
        for task in list(self._tasks):
            await run_in_thread(task.wait_until_written)

    @property
    def records(self) -> Path | None:
        """The folder with the records of running exports."""
        return self._records.folder if self._records else None

    def _keep_record(self, task: ExportTask) -> None:
        """Record the export on disk until it is over."""
        if self._records is None:
            return
        records, name = self._records, self._records.keep(task.order)
        if name is not None:
            self._write_record(name)

            def on_ended() -> None:
                if task.state.is_over:
                    records.forget(name)
                    self._write_record(name)

            task.ended.connect(on_ended)

    def _write_record(self, name: str) -> None:
        assert self._records is not None
        work = partial(self._records.write, name)
        run_in_background(self, work, done=lambda _: None, failed=lambda _: None)

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
