"""Fakes and helpers for the tests of exports from the window."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from studio.app.export_dialog.details_dialog import ExportDetails
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_manager import ExportManager
from studio.app.export_dialog.export_options import KnownVoicesAndStyles
from studio.app.export_dialog.export_task import ExportTask
from studio.app.synthesis.queue import JobState, LineSnapshot, SynthesisJob
from studio.errors import StudioError
from studio.export.provenance import Provenance
from studio.pipeline.request import Mode, SynthesisReport
from studio.project.changes import AddTake
from studio.project.fingerprint import fingerprint
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import Take, TakeParameters
from studio.settings_store import Settings

RATE = 24_000


def record(project: Project, line: Line) -> Take:
    """Record half a second for ``line``, which need not be in the project any more."""
    print_of_line = fingerprint(line, project.dictionary_in_force)
    parameters = TakeParameters(line.text, 1, print_of_line, "zero-shot", line.voice or "", "", "a model", "")
    recorder = project.begin_take(line.id, parameters, RATE)
    samples = np.random.default_rng(len(line.text)).uniform(-0.5, 0.5, RATE // 2).astype(np.float32)
    recorder.append(samples)
    return recorder.finish(SynthesisReport(0.1, 0.5, 0.3, RATE, Mode.ZERO_SHOT, 5, {}, {}))


def speak(project: Project, line_id: str) -> None:
    """Give the line a take, like the queue."""
    project.apply(AddTake(record(project, project.line(line_id)), is_chosen=True))


def choose(dialog: ExportDialog, setting: object, value: object) -> None:
    editor = dialog.form.editor(setting)  # type: ignore[arg-type]
    editor.set_value(value)
    editor.changed.emit()


class FakeQueue(QObject):
    """A synthesis queue whose jobs end when the test says so."""

    job_finished = Signal(object)

    def __init__(self, project: Project, *, num_ahead: int = 4) -> None:
        super().__init__()
        self.num_ahead = num_ahead
        self.jobs: list[SynthesisJob] = []
        self._project = project

    def speak_snapshot(self, snapshot: LineSnapshot) -> SynthesisJob:
        job = SynthesisJob(snapshot.line.id, snapshot.line.text, 1, snapshot=snapshot)
        self.jobs.append(job)
        return job

    def cancel(self, job: SynthesisJob) -> None:
        job.state = JobState.CANCELLED
        self.job_finished.emit(job)

    @property
    def waiting(self) -> list[SynthesisJob]:
        return [job for job in self.jobs if not job.state.is_over]

    def finish(self, line_id: str, error: StudioError | None = None) -> None:
        """End the job of a line: with a take, or with an error."""
        (job,) = [job for job in self.waiting if job.line_id == line_id]
        if error is None:
            assert job.snapshot is not None
            job.take = record(self._project, job.snapshot.line)
            if self._project.has_line(line_id):
                self._project.apply(AddTake(job.take, is_chosen=True))
        job.state, job.error = JobState.DONE if error is None else JobState.FAILED, error
        self.job_finished.emit(job)


class ExportBench:
    """An export dialog with the exports that it starts."""

    def __init__(
        self,
        qtbot: QtBot,
        project: Project,
        settings: Settings,
        *,
        num_ahead: int = 4,
        known: KnownVoicesAndStyles | None = None,
        selected_ids: tuple[str, ...] = (),
    ) -> None:
        self.qtbot, self.project, self.settings = qtbot, project, settings
        self.queue = FakeQueue(project, num_ahead=num_ahead)
        self.exports = ExportManager(self.queue)
        self.dialog = self.open(known=known, selected_ids=selected_ids)

    def open(self, *, known: KnownVoicesAndStyles | None = None, selected_ids: tuple[str, ...] = ()) -> ExportDialog:
        self.dialog = ExportDialog(
            self.project,
            self.settings,
            selected_ids=selected_ids,
            provenance=Provenance("a model", "Apache-2.0"),
            known=known,
        )
        self.qtbot.addWidget(self.dialog)
        self.dialog.export_wanted.connect(self.exports.start)
        self.dialog.show()
        return self.dialog

    @property
    def task(self) -> ExportTask:
        task = self.exports.current
        assert task is not None
        return task

    def begin(self) -> ExportTask:
        """Click "Export" and return the export once it has begun."""
        with self.qtbot.waitSignal(self.dialog.export_wanted):
            self.dialog.export_button.click()
        return self.task

    def export(self) -> ExportTask:
        """Click "Export" and wait until the export has ended."""
        task = self.begin()
        self.wait_until_ended(task)
        return task

    def wait_until_ended(self, task: ExportTask) -> None:
        self.qtbot.waitUntil(lambda: not task.state.is_running)

    def wait_for_jobs(self, *line_ids: str) -> None:
        self.qtbot.waitUntil(lambda: [job.line_id for job in self.queue.waiting] == list(line_ids))

    def details(self, task: ExportTask) -> ExportDetails:
        details = ExportDetails(task)
        self.qtbot.addWidget(details)
        details.show()
        return details
