"""Fits takes to their slots: stretches them at once, or requests new takes from the synthesis queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import SynthesisJob, SynthesisQueue
from studio.project.changes import Change, ChooseTake, CompositeChange, EditLines
from studio.project.dubbing import FitOptions, LineFit, Retakes, plan_fit, stretches, take_seconds
from studio.project.lines import LineStyle
from studio.project.script import Script


@dataclass(frozen=True, slots=True)
class FitResult:
    """Result of fitting.

    Attributes:
        num_fitted: The number of lines that were too long (or too short) and now fit.
        num_retaken: The number of lines that got a new take.
        remaining: The lines that are still too long, the longest overrun first.
    """

    num_fitted: int
    num_retaken: int
    remaining: tuple[LineFit, ...]


class Fitter(QObject):
    """Carries out plans of ``plan_fit``.

    All stretches are one undo step. The lines spoken again are a second undo step, added when all their takes are done.
    Until then they have the faster style; this change alone cannot be undone.
    """

    progressed = Signal(int, int)  # number of finished new takes, number of all new takes
    finished = Signal(object)  # FitResult

    def __init__(self, editor: ProjectEditor, queue: SynthesisQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._queue = queue
        self._plan: tuple[LineFit, ...] = ()
        self._options = FitOptions()
        self._jobs: list[SynthesisJob] = []
        queue.job_finished.connect(self._on_job_finished)
        editor.project_replaced.connect(self._forget)

    @property
    def is_busy(self) -> bool:
        return bool(self._jobs)

    def start(self, plan: Sequence[LineFit], options: FitOptions) -> None:
        """Apply ``plan``. Emits ``finished``, at once if no line is spoken again."""
        assert not self.is_busy
        self._plan, self._options = tuple(plan), replace(options, retakes=Retakes.NEVER)
        change = stretches([fit for fit in plan if not fit.is_retaken])
        if change is not None:
            self._editor.push(change, self.tr("Fit to slots"))
        retaken = [fit.line.id for fit in plan if fit.is_retaken]
        if not retaken or options.faster_style is None:
            self._finish(0)
            return
        style = LineStyle(preset=options.faster_style)
        self._editor.apply(EditLines({line_id: {"style": style} for line_id in retaken}))
        self._jobs = self._queue.speak(retaken)
        self.progressed.emit(0, len(self._jobs))

    def cancel(self) -> None:
        """Cancel the takes that are not done. Their lines keep their takes, which are stretched."""
        for job in list(self._jobs):
            self._queue.cancel(job)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job not in self._jobs:
            return
        num_done = sum(each.state.is_over for each in self._jobs)
        self.progressed.emit(num_done, len(self._jobs))
        if num_done == len(self._jobs):
            self._end_retakes()

    def _end_retakes(self) -> None:
        """Make the new takes one undo step: restore the lines as they were, then change them again."""
        jobs, self._jobs = {job.line_id: job for job in self._jobs}, []
        script = self._editor.script
        before: list[Change] = []
        after: list[Change] = []
        num_retaken = 0
        for fit in self._plan:
            line_id = fit.line.id
            job = jobs.get(line_id)
            if job is None or line_id not in script.index_of or not _is_ours(script, fit):
                continue
            line = script.line(line_id)
            before.append(EditLines({line_id: {"style": fit.line.style}}))
            if fit.line.chosen_take in script.line_of_take:
                before.append(ChooseTake(line_id, fit.line.chosen_take))
            seconds = take_seconds(script, line)
            is_new = line.chosen_take is not None and line.chosen_take != fit.line.chosen_take
            if job.error is None and is_new and seconds is not None and seconds < fit.take_seconds:
                after += [EditLines({line_id: {"style": line.style}}), ChooseTake(line_id, line.chosen_take)]
                num_retaken += 1
        if before:
            self._editor.apply(CompositeChange(tuple(before)))
        changed, _ = CompositeChange(tuple(after)).apply(self._editor.script)
        stretch = stretches(plan_fit(changed, jobs, self._options))
        if stretch is not None:
            after.append(stretch)
        if after:
            self._editor.push(CompositeChange(tuple(after)), self.tr("Fit to slots"))
        self._finish(num_retaken)

    def _finish(self, num_retaken: int) -> None:
        wanted = {fit.line.id: fit for fit in self._plan}
        self._plan = ()
        now = plan_fit(self._editor.script, wanted, self._options)
        remaining = tuple(fit for fit in now if fit.still_overruns)
        still_over = {fit.line.id for fit in remaining}
        num_fitted = sum(
            fit.is_stretched or fit.is_retaken for line_id, fit in wanted.items() if line_id not in still_over
        )
        self.finished.emit(FitResult(num_fitted, num_retaken, remaining))

    def _forget(self) -> None:
        self._plan, self._jobs = (), []


def _is_ours(script: Script, fit: LineFit) -> bool:
    """Return whether the line still has the text and style that were requested."""
    line = script.line(fit.line.id)
    return line.text == fit.line.text and line.style.preset is not None
