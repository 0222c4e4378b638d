"""One export from the window: lines without a take are spoken by the queue, then all files are written."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance

from studio.app.background import run_in_background
from studio.app.export_dialog.export_options import ExportLine, ExportOrder, takes_to_export
from studio.app.synthesis.queue import JobState, LineSnapshot, SynthesisJob
from studio.errors import StudioError
from studio.export.exporter import Exporter, ExportResult
from studio.export.original_times import overruns
from studio.export.plan import ExportPlan
from studio.export.progress import ExportProgress, Pace
from studio.export.project_lines import TakeSource, check_in_project, fresh_take
from studio.pipeline.request import Cancelled, RequestControl
from studio.project.lines import Line
from studio.project.takes import Take

_WRITING_SHARE = 0.05  # share of the progress bar, if lines have to be spoken first
_MIN_SECONDS = 1.0  # no estimate before this much time has passed


class SpeechQueue(Protocol):
    """Interface of the synthesis queue for an export."""

    job_finished: SignalInstance

    @property
    def num_ahead(self) -> int: ...

    def speak_snapshot(self, snapshot: LineSnapshot) -> SynthesisJob: ...

    def cancel(self, job: SynthesisJob) -> None: ...


class ExportState(Enum):
    WAITING = "waiting"  # waiting for another export
    SPEAKING = "speaking"
    PAUSED = "paused"
    UNDECIDED = "undecided"  # lines failed, and nothing has been written
    WRITING = "writing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (ExportState.DONE, ExportState.FAILED, ExportState.CANCELLED)

    @property
    def is_running(self) -> bool:
        return self in (ExportState.SPEAKING, ExportState.PAUSED, ExportState.WRITING)


class ExportTask(QObject):
    """An export in progress. Belongs to the GUI thread.

    Attributes:
        failures: The lines that could not be spoken, with their errors, by line id.
        result: The result once files have been written.
        error: The reason why the export ended without files.
    """

    changed = Signal()
    ended = Signal()  # no longer running: finished, or waiting for a decision
    _progressed = Signal(object)  # ExportProgress, emitted on the thread of the export

    def __init__(
        self,
        order: ExportOrder,
        queue: SpeechQueue,
        parent: QObject | None = None,
        *,
        waits_for: Callable[[int], bool] = lambda _: False,
    ) -> None:
        """``waits_for`` returns whether the takes of a batch of jobs are still being checked: see ``take_settled``."""
        super().__init__(parent)
        self._waits_for = waits_for
        self._in_check: dict[int, tuple[ExportLine, Take]] = {}  # by batch of the jobs
        self.order = order
        self._num_silent = len(order.silent_numbers)
        self.state = ExportState.WAITING
        self.failures: dict[str, tuple[ExportLine, StudioError]] = {}
        self.result: ExportResult | None = None
        self.error: StudioError | None = None
        self.progress: ExportProgress | None = None
        self._queue = queue
        self._takes: dict[str, Take] = {line.id: line.take for line in order.lines if line.take is not None}
        self._unspoken: deque[ExportLine] = deque()
        self._jobs: dict[SynthesisJob, ExportLine] = {}
        self._num_to_speak = self._num_spoken = 0
        self._pace = Pace(letters_to_speak=0, lines_to_write=0)
        self._exporter: Exporter | None = None
        self._control = RequestControl()
        self._written = threading.Event()
        self._written.set()
        self._progressed.connect(self._on_progress, Qt.ConnectionType.QueuedConnection)
        queue.job_finished.connect(self._on_job_finished)

    # Figures.

    @property
    def num_lines(self) -> int:
        return len(self.order.lines)

    @property
    def num_done(self) -> int:
        """The number of lines that are finished in the current phase: spoken or written."""
        if self.state is ExportState.WRITING:
            return self.progress.num_done if self.progress else 0
        return self._num_spoken

    @property
    def num_in_phase(self) -> int:
        return self.num_lines if self.state is ExportState.WRITING else self._num_to_speak

    @property
    def share(self) -> float:
        """The completed share of the work, from 0 to 1."""
        if self.state is ExportState.WRITING:
            written = self.progress.share if self.progress else 0.0
            return 1 - _WRITING_SHARE * (1 - written) if self._num_to_speak else written
        return (1 - _WRITING_SHARE) * self._num_spoken / max(1, self._num_to_speak)

    @property
    def num_to_review(self) -> int:
        """The number of takes to export with problems that the user has not accepted."""
        return sum(take.needs_review for line_id, take in self._takes.items() if line_id not in self.failures)

    @property
    def num_too_long(self) -> int:
        """The number of lines that were exported at their times and are too long for their slots."""
        if self.result is None or not self.order.settings.at_times:
            return 0
        return len(overruns(self.result.timings))

    @property
    def num_silent(self) -> int:
        """The number of sounds and stage directions that were not exported."""
        return self._num_silent

    @property
    def remaining_seconds(self) -> float | None:
        """The estimated remaining time, or None while it is unknown."""
        if self.state is ExportState.WRITING:
            return self.progress.remaining_seconds if self.progress else None
        return self._pace.remaining_seconds if self.state is ExportState.SPEAKING else None

    @property
    def lines_per_minute(self) -> float | None:
        seconds = self._pace.speaking_seconds
        if self.state is not ExportState.SPEAKING or seconds < _MIN_SECONDS:
            return None
        return 60 * self._num_spoken / seconds

    # Commands.

    def begin(self) -> None:
        """Speak the lines without a take, then write the files."""
        self._speak([line for line in self.order.lines if line.id not in self._takes])

    def pause(self) -> None:
        """Speak no more lines until ``resume``. Lines being spoken are finished."""
        if self.state is ExportState.SPEAKING:
            self._set_state(ExportState.PAUSED)

    def resume(self) -> None:
        if self.state is ExportState.PAUSED:
            self._pace.begin()
            self._set_state(ExportState.SPEAKING)
            self._feed()

    def cancel(self) -> None:
        """End the export. Takes and finished files are kept."""
        if self.state.is_over:
            return
        if self.state is ExportState.WRITING:
            self._control.cancel()
            return
        jobs, self._jobs = list(self._jobs), {}
        self._in_check.clear()
        self._unspoken.clear()
        for job in jobs:
            self._queue.cancel(job)
        self._end(ExportState.CANCELLED)

    def retry_failed(self) -> None:
        """Speak the failed lines again."""
        if self.state is ExportState.UNDECIDED:
            failed = [line for line, _ in self.failures.values()]
            self.failures = {}
            self._speak(failed)

    def export_others(self) -> None:
        """Write the files without the failed lines."""
        if self.state is ExportState.UNDECIDED:
            self._write()

    def replace_files(self) -> None:
        """Write the files again, replacing the files of other scripts that prevented it."""
        if self.conflicting_files:
            self.order = replace(self.order, replaceable=self.order.replaceable | frozenset(self.conflicting_files))
            self._write()

    @property
    def conflicting_files(self) -> tuple[PurePosixPath, ...]:
        """The files of other scripts that prevented the export."""
        return self._exporter.conflicting_files if self._exporter and self.state is ExportState.FAILED else ()

    def wait_until_written(self) -> None:
        """Wait until no file is being written. Call this on a background thread, after ``cancel``."""
        self._written.wait()

    # Speaking.

    def _speak(self, lines: list[ExportLine]) -> None:
        self._unspoken = deque(lines)
        self._num_to_speak, self._num_spoken = len(lines), 0
        self._pace = Pace(letters_to_speak=sum(len(line.line.text) for line in lines), lines_to_write=0)
        self._pace.begin()
        self._set_state(ExportState.SPEAKING)
        self._feed()

    def _feed(self) -> None:
        """Queue the next few lines, but not all, so that requests of the user need not wait for the export."""
        while self.state is ExportState.SPEAKING and self._unspoken and len(self._jobs) < self._queue.num_ahead:
            line = self._unspoken.popleft()
            take = self._take_spoken_meanwhile(line)
            if take is not None:
                self._keep(line, take)
            else:
                job = self._queue.speak_snapshot(LineSnapshot(line.line, self.order.dictionary))
                self._jobs[job] = line
        self._continue()

    def _continue(self) -> None:
        """Write the files once all lines are spoken."""
        if self.state is not ExportState.SPEAKING or self._unspoken or self._jobs or self._in_check:
            self.changed.emit()
        elif self.failures:
            self._end(ExportState.UNDECIDED)
        else:
            self._write()

    def _take_spoken_meanwhile(self, line: ExportLine) -> Take | None:
        project = self.order.project
        is_same = project.has_line(line.id) and _speech_of(project.line(line.id)) == _speech_of(line.line)
        return fresh_take(project, line.id) if is_same else None

    def _on_job_finished(self, job: SynthesisJob) -> None:
        line = self._jobs.pop(job, None)
        if line is None:
            return
        if job.state is JobState.DONE and job.take is not None and self._waits_for(job.batch):
            self._in_check[job.batch] = (line, job.take)
        elif job.state is JobState.DONE and job.take is not None:
            self._keep(line, job.take)
        elif job.error is not None:
            self.failures[line.id] = (line, job.error)
            self._num_spoken += 1
            self._pace.skipped(letters=len(line.line.text))
        else:  # removed from the queue, or stopped by a change of model
            self._unspoken.appendleft(line)
            self.pause()
        # Not at once: the queue is about to start the next job.
        QTimer.singleShot(0, self, self._feed)

    def take_settled(self, batch: int, take_id: str) -> None:
        """Use the best take of a batch, whose checks and automatic retries have ended."""
        line, take = self._in_check.pop(batch, (None, None))
        if line is None or take is None:
            return
        script = self.order.project.script
        self._keep(line, script.take(take_id) if take_id in script.line_of_take else take)
        QTimer.singleShot(0, self, self._feed)

    def _keep(self, line: ExportLine, take: Take) -> None:
        self._takes[line.id] = take
        self._num_spoken += 1
        self._pace.spoke(len(line.line.text))

    # Writing.

    def _write(self) -> None:
        spoken = [line.with_take(self._takes[line.id]) for line in self.order.lines if line.id in self._takes]
        try:
            plan = replace(self.order, lines=tuple(spoken)).plan()
        except StudioError as error:
            self._fail(error)
            return
        self._start_exporter(plan, spoken)

    def _start_exporter(self, plan: ExportPlan, spoken: list[ExportLine]) -> None:
        self._control = control = RequestControl()
        self.progress = None

        def on_progress(progress: ExportProgress) -> None:
            try:
                self._progressed.emit(progress)
            except RuntimeError:  # this object has been deleted
                control.cancel()

        lines = takes_to_export(spoken)
        check_of = partial(check_in_project, lines)
        source = TakeSource(self.order.project, lines)
        self._exporter = Exporter(plan, source, control=control, on_progress=on_progress, check_of=check_of)
        self._written.clear()
        self._set_state(ExportState.WRITING)
        run_in_background(
            self,
            partial(_run, self._exporter, self._written),
            done=self._on_written,
            failed=partial(self._on_failed, plan, spoken),
        )

    def _on_progress(self, progress: ExportProgress) -> None:
        self.progress = progress
        self.changed.emit()

    def _on_written(self, result: ExportResult | None) -> None:
        self.result = result
        line_of_number = {line.item.index: line for line in self.order.lines}
        for failure in result.failures if result is not None else ():
            line = line_of_number[failure.item.index]
            self.failures[line.id] = (line, failure.error)
        self._end(ExportState.CANCELLED if result is None else ExportState.DONE)

    def _on_failed(self, plan: ExportPlan, spoken: list[ExportLine], error: StudioError) -> None:
        conflicting = self._exporter.conflicting_files if self._exporter else ()
        if conflicting and not plan.settings.replaces_files and self.order.replaceable.issuperset(conflicting):
            settings = replace(plan.settings, replaces_files=True)
            self._start_exporter(replace(plan, settings=settings), spoken)
        else:
            self._fail(error)

    def _fail(self, error: StudioError) -> None:
        self.error = error
        self._end(ExportState.FAILED)

    def _end(self, state: ExportState) -> None:
        self._set_state(state)
        self.ended.emit()

    def _set_state(self, state: ExportState) -> None:
        self.state = state
        self.changed.emit()


def _speech_of(line: Line) -> Line:
    """Return a line without the values that do not affect its speech."""
    return replace(line, chosen_take=None, file_name=None, note="")


def _run(exporter: Exporter, written: threading.Event) -> ExportResult | None:
    """Run an export on a background thread; return None if it is cancelled."""
    try:
        return exporter.run()
    except Cancelled:
        return None
    finally:
        written.set()
