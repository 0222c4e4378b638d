"""Synthesis queue: jobs run one after the other, or concurrently if the engine benefits from it.

A failed job does not stop the next one. Urgent jobs, whose audio the user waits for, start before all others.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.bridge import WorkerBridge
from studio.app.script.line_statuses import LineStatus, LineStatusStore
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.take_synthesis import FindVoice, SpeechRateEstimator, TakeSynthesis
from studio.errors import InternalError, OutOfMemory, StudioError, WorkerDied
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line, LineState
from studio.project.requests import reading_rules
from studio.project.takes import Take
from studio.settings import KEEPS_LEADING_SILENCE
from studio.settings_store import Settings
from studio.take_checks.policy import retry_seed

_log = logging.getLogger(__name__)

_MAX_DRAWN_SEED = 2**31


class JobState(Enum):
    WAITING = "waiting"
    SPEAKING = "speaking"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class LineSnapshot:
    """A line and the dictionary at the start of an export."""

    line: Line
    dictionary: PronunciationDictionary


@dataclass(slots=True, eq=False)
class SynthesisJob:
    """Request for one take."""

    line_id: str
    text: str  # text of the line when the take was requested
    seed: int
    number: int = field(default_factory=itertools.count(1).__next__)
    state: JobState = JobState.WAITING
    stage: str = ""
    share: float = 0.0
    error: StudioError | None = None
    take: Take | None = None
    synthesis: TakeSynthesis | None = None
    source: Path | None = None  # recording to convert, instead of speaking the text
    is_urgent: bool = False  # whether the user waits to hear the take
    ran_concurrently: bool = False  # whether other jobs ran at the same time
    is_exclusive: bool = False  # run alone, because another job may have made the first attempt fail
    snapshot: LineSnapshot | None = None  # spoken for an export, instead of the current line
    batch: int = field(default_factory=itertools.count(1).__next__)  # the same for all takes of one request for a line
    attempt: int = 0  # number of the automatic retry
    draft: Take | None = None  # the take to speak exactly, with the same reading
    retry_of: str | None = None  # the take whose problems are the reason for speaking the line again


class SynthesisQueue(QObject):
    """The jobs in the order in which they run. Belongs to the GUI thread."""

    jobs_added = Signal(list, int)  # jobs, and the position of the first one in the queue
    job_changed = Signal(object)  # SynthesisJob
    jobs_removed = Signal(list)
    synthesis_started = Signal(object)  # TakeSynthesis, before its first signal
    job_finished = Signal(object)
    became_idle = Signal()

    def __init__(
        self,
        bridge: WorkerBridge,
        editor: ProjectEditor,
        line_statuses: LineStatusStore,
        find_voice: FindVoice,
        parent: QObject | None = None,
        *,
        settings: Settings,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._editor = editor
        self._line_statuses = line_statuses
        self._find_voice = find_voice
        self._settings = settings
        self._jobs: list[SynthesisJob] = []
        self._jobs_of_line: dict[str, list[SynthesisJob]] = {}
        self._num_waiting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_paused = False
        self.rate_estimator = SpeechRateEstimator()
        bridge.engine_changed.connect(self._start_next)  # max_concurrent_lines is known once a model is loaded

    @property
    def jobs(self) -> tuple[SynthesisJob, ...]:
        return tuple(self._jobs)

    @property
    def current(self) -> SynthesisJob | None:
        """The urgent running job, or otherwise the first running one."""
        return min(self.running, key=lambda job: not job.is_urgent, default=None)

    @property
    def running(self) -> tuple[SynthesisJob, ...]:
        return tuple(job for job in self._jobs if job.state is JobState.SPEAKING)

    @property
    def waiting(self) -> tuple[SynthesisJob, ...]:
        return tuple(job for job in self._jobs if job.state is JobState.WAITING)

    @property
    def num_waiting(self) -> int:
        """The number of waiting jobs, without a search, because the window shows it after every change."""
        return self._num_waiting

    @property
    def clearable(self) -> tuple[SynthesisJob, ...]:
        """The waiting jobs, except those of an export, which has its own buttons."""
        return tuple(job for job in self.waiting if job.snapshot is None)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def job_of(self, line_id: str) -> SynthesisJob | None:
        """Return the running job of a line, or otherwise its next waiting job."""
        left = [job for job in self._jobs_of_line.get(line_id, ()) if not job.state.is_over]
        return next((job for job in left if job.state is JobState.SPEAKING), left[0] if left else None)

    @property
    def remaining_seconds(self) -> float | None:
        """Estimated time until the queue is empty; None before the first measurement."""
        rest = 0.0
        for job in self._jobs:
            if job.state.is_over:
                continue
            seconds = self.rate_estimator.work_seconds(job.text)
            if seconds is None:
                return None
            rest += seconds * (1 - job.share)
        return rest / max(1, len(self._tasks))  # the rates were measured with this many concurrent jobs

    def speak(
        self, line_ids: Iterable[str], *, num_takes: int = 1, goes_first: bool = False, varies_seed: bool = False
    ) -> list[SynthesisJob]:
        """Add ``num_takes`` jobs for each line, with random seeds where the line has none.

        If ``varies_seed``, a line with a seed is spoken with another seed, which is derived from it.
        """
        added: list[SynthesisJob] = []
        for line_id in line_ids:
            line = self._editor.project.line(line_id)
            jobs: list[SynthesisJob] = []
            for index in range(num_takes):
                seed = secrets.randbelow(_MAX_DRAWN_SEED) if line.seed is None or index else line.seed
                if varies_seed and line.seed is not None and not index:
                    seed = retry_seed(line.seed, self._num_takes(line_id))
                job = SynthesisJob(line_id, line.text, seed, is_urgent=goes_first and not added and not jobs)
                job.batch = jobs[0].batch if jobs else job.batch
                jobs.append(job)
            added += jobs
        return self._add(added, goes_first=goes_first)

    def finish_drafts(self, drafts: Iterable[Take]) -> list[SynthesisJob]:
        """Speak ``drafts`` exactly, with the same readings."""
        jobs = [SynthesisJob(draft.line_id, draft.parameters.text, draft.seed, draft=draft) for draft in drafts]
        return self._add(jobs, goes_first=False)

    def _num_takes(self, line_id: str) -> int:
        """Return the highest number of a take of the line."""
        return max((take.number for take in self._editor.project.takes_of(line_id)), default=0)

    def speak_snapshot(self, snapshot: LineSnapshot) -> SynthesisJob:
        """Add a job for a line of an export. Later edits of the line do not change it."""
        line = snapshot.line
        seed = secrets.randbelow(_MAX_DRAWN_SEED) if line.seed is None else line.seed
        return self._add([SynthesisJob(line.id, line.text, seed, snapshot=snapshot)], goes_first=False)[0]

    def retry_take(self, job: SynthesisJob, *, attempt: int, retry_of: str) -> SynthesisJob:
        """Speak the line of a finished ``job`` again, because its take has problems.

        The seed is derived from the first one.
        """
        seed = retry_seed(job.seed, attempt)
        text = self._editor.project.line(job.line_id).text if job.snapshot is None else job.text
        again = SynthesisJob(
            job.line_id,
            text,
            seed,
            snapshot=job.snapshot,
            batch=job.batch,
            attempt=attempt,
            retry_of=retry_of,
        )
        return self._add([again], goes_first=False)[0]

    @property
    def num_ahead(self) -> int:
        """The number of waiting jobs that keep the engine busy."""
        return 2 * max(1, self._bridge.max_concurrent_lines)

    def convert(self, line_id: str, source: Path) -> SynthesisJob:
        """Add a job that converts the recording ``source`` to the voice of the line."""
        text = self._editor.project.line(line_id).text
        job = SynthesisJob(line_id, text, secrets.randbelow(_MAX_DRAWN_SEED), source=source, is_urgent=True)
        return self._add([job], goes_first=True)[0]

    def _add(self, added: list[SynthesisJob], *, goes_first: bool) -> list[SynthesisJob]:
        position = _insert_position(self._jobs, goes_first=goes_first)
        self._jobs[position:position] = added
        self._num_waiting += len(added)
        lines = {job.line_id: list[SynthesisJob]() for job in added}
        for job in added:
            lines[job.line_id].append(job)
        for line_id, ours in lines.items():
            line_jobs = self._jobs_of_line.setdefault(line_id, [])
            line_position = _insert_position(line_jobs, goes_first=goes_first)
            line_jobs[line_position:line_position] = ours
            self._show_line(line_id)
        self.jobs_added.emit(added, position)
        self._start_next()
        return added

    def retry(self, job: SynthesisJob) -> None:
        """Replace a finished job by a new one for the same line."""
        if job.state.is_over:
            self.remove(job)
            if not self._editor.project.has_line(job.line_id):
                return
            if job.source is not None:
                self.convert(job.line_id, job.source)
            elif job.draft is not None:
                self.finish_drafts([job.draft])
            else:
                self.speak([job.line_id])

    def cancel(self, job: SynthesisJob) -> None:
        """Cancel a job; the audio of a running one is kept as an incomplete take."""
        if job.state is JobState.WAITING:
            self._end(job, JobState.CANCELLED)
        elif job.synthesis is not None:
            job.synthesis.stop()

    def cancel_all(self) -> None:
        for job in (*self.waiting, *self.running):
            self.cancel(job)

    def cancel_waiting(self) -> None:
        """Cancel the waiting jobs, except those of an export."""
        for job in self.clearable:
            self.cancel(job)

    def remove(self, job: SynthesisJob) -> None:
        """Remove a finished job from the queue."""
        if job.state.is_over and job in self._jobs:
            self._remove_jobs([job])

    def clear_finished(self) -> None:
        self._remove_jobs([job for job in self._jobs if job.state.is_over])

    def _remove_jobs(self, jobs: list[SynthesisJob]) -> None:
        gone = set(jobs)
        self._jobs = [job for job in self._jobs if job not in gone]
        self.jobs_removed.emit(jobs)
        for line_id in {job.line_id for job in jobs}:
            left = [job for job in self._jobs_of_line.pop(line_id, ()) if job not in gone]
            if left:
                self._jobs_of_line[line_id] = left
            self._show_line(line_id)

    def set_paused(self, is_paused: bool) -> None:
        """Pause or resume the queue. Jobs that are already running finish."""
        self._is_paused = is_paused
        self._start_next()

    def forget_project(self) -> None:
        """Cancel and remove all jobs, before another project is opened."""
        self.cancel_all()
        self.clear_finished()
        self._line_statuses.clear()

    async def finished(self) -> None:
        """Wait until no job is running."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _start_next(self) -> None:
        for job in self.waiting:
            if self._is_paused:
                return
            if job.state is not JobState.WAITING:  # cancelled while an earlier job started
                continue
            if job.snapshot is None and not self._editor.project.has_line(job.line_id):
                self._end(job, JobState.CANCELLED)
            elif self._can_start(job):
                self._begin(job)
            else:
                return

    def _begin(self, job: SynthesisJob) -> None:
        line = job.snapshot.line if job.snapshot else self._editor.project.line(job.line_id)
        synthesis = TakeSynthesis(
            line,
            job.seed,
            self.rate_estimator,
            source=job.source,
            in_batch=not job.is_urgent,
            keeps_leading_silence=self._settings[KEEPS_LEADING_SILENCE],
            reading=reading_rules(self._settings),
            snapshot_dictionary=job.snapshot.dictionary if job.snapshot else None,
            retry_of=job.retry_of,
            draft=job.draft,
        )
        job.synthesis = synthesis
        self._set_state(job, JobState.SPEAKING)
        if self._tasks:
            for each in self.running:
                each.ran_concurrently = True
        speaking = self._bridge.run(self._speak(job, synthesis))
        self._tasks.add(speaking)
        speaking.add_done_callback(self._on_spoken)

    def _can_start(self, job: SynthesisJob) -> bool:
        if job.is_exclusive or any(each.is_exclusive for each in self.running):
            return not self._tasks
        num_at_once = self._bridge.max_concurrent_lines
        return not self._tasks or (num_at_once > 1 and (job.is_urgent or len(self._tasks) < num_at_once))

    def _on_spoken(self, speaking: asyncio.Task[None]) -> None:
        self._tasks.discard(speaking)
        self._start_next()
        if not self._tasks:
            self.became_idle.emit()

    async def _speak(self, job: SynthesisJob, synthesis: TakeSynthesis) -> None:
        synthesis.progressed.connect(lambda stage, share: self._on_progress(job, stage, share))
        self._show(job)
        self.synthesis_started.emit(synthesis)
        try:
            job.take = await synthesis.run(self._bridge, self._editor, self._find_voice)
        except StudioError as error:
            may_be_caused_by_others = job.ran_concurrently and isinstance(error, WorkerDied | OutOfMemory)
            if may_be_caused_by_others and not synthesis.is_stopped:
                self._retry_alone(job)
            else:
                job.error = error
                self._end(job, JobState.FAILED)
        except Exception as error:  # noqa: BLE001 - top level of a task: the job reports it
            _log.exception("unexpected error in a job")
            job.error = InternalError(
                "Unexpected error: {reason}.", remedy="See the Log tab for details.", reason=error
            )
            self._end(job, JobState.FAILED)
        else:
            # Cancelled by the user, or stopped because the model was changed or the line was deleted.
            is_whole = job.take is not None and job.take.is_complete
            self._end(job, JobState.DONE if is_whole and not synthesis.is_stopped else JobState.CANCELLED)

    def _retry_alone(self, job: SynthesisJob) -> None:
        self._set_state(job, JobState.WAITING)
        job.share = 0.0
        job.ran_concurrently, job.is_exclusive = False, True
        self._show(job)

    def _set_state(self, job: SynthesisJob, state: JobState) -> None:
        self._num_waiting += (state is JobState.WAITING) - (job.state is JobState.WAITING)
        job.state = state

    def _end(self, job: SynthesisJob, state: JobState) -> None:
        self._set_state(job, state)
        job.share = 1.0 if state is JobState.DONE else job.share
        self._show(job)
        self.job_finished.emit(job)
        if job.synthesis is not None:
            job.synthesis.release_audio()  # otherwise the audio of a long script fills the memory

    def _on_progress(self, job: SynthesisJob, stage: str, share: float) -> None:
        job.stage, job.share = stage, share if stage == "speech" else 0.0
        self._show(job)

    def _show(self, job: SynthesisJob) -> None:
        self._show_line(job.line_id)
        self.job_changed.emit(job)

    def _show_line(self, line_id: str) -> None:
        """Update the status of a line. Its last failure is shown until the next request."""
        ours = self._jobs_of_line.get(line_id)
        at_work = self.job_of(line_id)
        if at_work is not None:
            state = LineState.SPEAKING if at_work.state is JobState.SPEAKING else LineState.QUEUED
            self._line_statuses.set(line_id, LineStatus(state, at_work.share))
        elif ours and ours[-1].state is JobState.FAILED:
            self._line_statuses.set(line_id, LineStatus(LineState.FAILED, error=ours[-1].error))
        else:
            self._line_statuses.set(line_id, None)


def _insert_position(jobs: list[SynthesisJob], *, goes_first: bool) -> int:
    """Return the position for new jobs: the end, or before the waiting jobs."""
    waiting = (position for position, job in enumerate(jobs) if job.state is JobState.WAITING)
    return next(waiting, len(jobs)) if goes_first else len(jobs)
