"""Lines waiting to be spoken: a failure does not stop the next.

One after the other, or several at once where the engine gains by that; what is to be heard waits for none of those.
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
from studio.project.lines import LineState
from studio.project.takes import Take
from studio.settings import KEEPS_LEADING_SILENCE
from studio.settings_store import Settings

_log = logging.getLogger(__name__)

_LARGEST_DRAWN_SEED = 2**31


class JobState(Enum):
    WAITING = "waiting"
    SPEAKING = "speaking"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


@dataclass(slots=True, eq=False)
class SynthesisJob:
    """One take that was asked for. ``text`` is the line's at that moment, for the list.

    ``source``: a recording that is to be said in the line's voice, instead of its text. ``is_urgent``: somebody
    waits to hear it. ``ran_concurrently``: others were at work meanwhile; ``is_exclusive``: none must be, for beside
    others it failed for what may have been another's fault.
    """

    line_id: str
    text: str
    seed: int
    number: int = field(default_factory=itertools.count(1).__next__)
    state: JobState = JobState.WAITING
    stage: str = ""
    share: float = 0.0
    error: StudioError | None = None
    take: Take | None = None
    synthesis: TakeSynthesis | None = None
    source: Path | None = None
    is_urgent: bool = False
    ran_concurrently: bool = False
    is_exclusive: bool = False


class SynthesisQueue(QObject):
    """Orders in the order they are worked on. Belongs to the thread of the window."""

    jobs_added = Signal(list, int)  # Orders, and where the first of them stands among all
    job_changed = Signal(object)  # Order
    orders_removed = Signal(list)
    making_started = Signal(object)  # TakeSynthesis: whoever wants to hear or see it connects now
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
        self._live_states = line_statuses
        self._find_voice = find_voice
        self._settings = settings
        self._orders: list[SynthesisJob] = []
        self._of_line: dict[str, list[SynthesisJob]] = {}
        self._at_work: set[asyncio.Task[None]] = set()
        self._is_paused = False
        self.pace = SpeechRateEstimator()
        bridge.engine_changed.connect(self._start_next)  # only a model that is loaded says how many it speaks at once

    @property
    def jobs(self) -> tuple[SynthesisJob, ...]:
        return tuple(self._orders)

    @property
    def current(self) -> SynthesisJob | None:
        """What is being spoken; of several, what somebody waits for, else the first."""
        return min(self.speaking, key=lambda job: not job.is_urgent, default=None)

    @property
    def speaking(self) -> tuple[SynthesisJob, ...]:
        return tuple(job for job in self._orders if job.state is JobState.SPEAKING)

    @property
    def waiting(self) -> tuple[SynthesisJob, ...]:
        return tuple(job for job in self._orders if job.state is JobState.WAITING)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def job_of(self, line_id: str) -> SynthesisJob | None:
        """The line's order that is at work, else the next that waits."""
        ours = [job for job in self._of_line.get(line_id, ()) if not job.state.is_over]
        return next((job for job in ours if job.state is JobState.SPEAKING), ours[0] if ours else None)

    @property
    def remaining_seconds(self) -> float | None:
        """Of work; None while the pace is not known."""
        rest = 0.0
        for job in self._orders:
            if job.state.is_over:
                continue
            seconds = self.pace.work_seconds(job.text)
            if seconds is None:
                return None
            rest += seconds * (1 - job.share)
        return rest / max(1, len(self._at_work))  # the pace of each is that of a line in company

    def speak(self, line_ids: Iterable[str], *, num_takes: int = 1, goes_first: bool = False) -> list[SynthesisJob]:
        """Asks for ``num_takes`` of each line, with seeds of their own where the line has none."""
        added: list[SynthesisJob] = []
        for line_id in line_ids:
            line = self._editor.project.line(line_id)
            for index in range(num_takes):
                seed = secrets.randbelow(_LARGEST_DRAWN_SEED) if line.seed is None or index else line.seed
                added.append(SynthesisJob(line_id, line.text, seed, is_urgent=goes_first and not added))
        return self._add(added, goes_first=goes_first)

    def convert(self, line_id: str, source: Path) -> SynthesisJob:
        """Asks for a take of ``line_id`` that says what is said in the recording ``source``."""
        text = self._editor.project.line(line_id).text
        job = SynthesisJob(line_id, text, secrets.randbelow(_LARGEST_DRAWN_SEED), source=source, is_urgent=True)
        return self._add([job], goes_first=True)[0]

    def _add(self, added: list[SynthesisJob], *, goes_first: bool) -> list[SynthesisJob]:
        place = _place_in(self._orders, goes_first=goes_first)
        self._orders[place:place] = added
        lines = {job.line_id: list[SynthesisJob]() for job in added}
        for job in added:
            lines[job.line_id].append(job)
        for line_id, ours in lines.items():
            of_line = self._of_line.setdefault(line_id, [])
            place_of_ours = _place_in(of_line, goes_first=goes_first)
            of_line[place_of_ours:place_of_ours] = ours
            self._show_line(line_id)
        self.jobs_added.emit(added, place)
        self._start_next()
        return added

    def retry(self, job: SynthesisJob) -> None:
        """Asks again for what failed or was cancelled."""
        if job.state.is_over:
            self.remove(job)
            if not self._editor.project.has_line(job.line_id):
                return
            if job.source is not None:
                self.convert(job.line_id, job.source)
            else:
                self.speak([job.line_id])

    def cancel(self, job: SynthesisJob) -> None:
        """Takes it back; what was already spoken of it stays as a take."""
        if job.state is JobState.WAITING:
            self._end(job, JobState.CANCELLED)
        elif job.synthesis is not None:
            job.synthesis.stop()

    def cancel_all(self) -> None:
        for job in list(self._orders):
            if not job.state.is_over:
                self.cancel(job)

    def cancel_waiting(self) -> None:
        for job in self.waiting:
            self.cancel(job)

    def remove(self, job: SynthesisJob) -> None:
        """From the list, once it is over."""
        if job.state.is_over and job in self._orders:
            self._take_away([job])

    def clear_finished(self) -> None:
        self._take_away([job for job in self._orders if job.state.is_over])

    def _take_away(self, jobs: list[SynthesisJob]) -> None:
        gone = set(jobs)
        self._orders = [job for job in self._orders if job not in gone]
        self.orders_removed.emit(jobs)
        for line_id in {job.line_id for job in jobs}:
            left = [job for job in self._of_line.pop(line_id, ()) if job not in gone]
            if left:
                self._of_line[line_id] = left
            self._show_line(line_id)

    def set_paused(self, is_paused: bool) -> None:
        """What is at work is finished first."""
        self._is_paused = is_paused
        self._start_next()

    def forget_project(self) -> None:
        """Before another project takes the place of this one."""
        self.cancel_all()
        self.clear_finished()
        self._live_states.clear()

    async def finished(self) -> None:
        """Until nothing is at work any more."""
        while self._at_work:
            await asyncio.wait(self._at_work)

    def _start_next(self) -> None:
        for job in self.waiting:
            if self._is_paused:
                return
            if job.state is not JobState.WAITING:  # taken back when another was
                continue
            if not self._editor.project.has_line(job.line_id):
                self._end(job, JobState.CANCELLED)
            elif self._has_room_for(job):
                self._begin(job)
            else:
                return

    def _begin(self, job: SynthesisJob) -> None:
        line = self._editor.project.line(job.line_id)
        making = TakeSynthesis(
            line,
            job.seed,
            self.pace,
            source=job.source,
            in_batch=not job.is_urgent,
            keeps_leading_silence=self._settings[KEEPS_LEADING_SILENCE],
        )
        job.synthesis, job.state = making, JobState.SPEAKING
        if self._at_work:
            for each in self.speaking:
                each.ran_concurrently = True
        speaking = self._bridge.run(self._speak(job, making))
        self._at_work.add(speaking)
        speaking.add_done_callback(self._on_spoken)

    def _has_room_for(self, job: SynthesisJob) -> bool:
        if job.is_exclusive or any(each.is_exclusive for each in self.speaking):
            return not self._at_work
        num_at_once = self._bridge.max_concurrent_lines
        return not self._at_work or (num_at_once > 1 and (job.is_urgent or len(self._at_work) < num_at_once))

    def _on_spoken(self, speaking: asyncio.Task[None]) -> None:
        self._at_work.discard(speaking)
        self._start_next()
        if not self._at_work:
            self.became_idle.emit()

    async def _speak(self, job: SynthesisJob, making: TakeSynthesis) -> None:
        making.progressed.connect(lambda stage, share: self._on_progress(job, stage, share))
        self._show(job)
        self.making_started.emit(making)
        try:
            job.take = await making.run(self._bridge, self._editor, self._find_voice)
        except StudioError as error:
            may_be_anothers_fault = job.ran_concurrently and isinstance(error, WorkerDied | OutOfMemory)
            if may_be_anothers_fault and not making.is_stopped:
                self._wait_alone(job)
            else:
                job.error = error
                self._end(job, JobState.FAILED)
        except Exception as error:  # noqa: BLE001 - the end of a task: the order reports it
            _log.exception("unexpected error in a line")
            job.error = InternalError(
                "Something unexpected happened: {reason}.", remedy="The log tab has the rest.", reason=error
            )
            self._end(job, JobState.FAILED)
        else:
            # Taken back by the person; or broken off: another model was chosen, or the line is gone.
            is_whole = job.take is not None and job.take.is_complete
            self._end(job, JobState.DONE if is_whole and not making.is_stopped else JobState.CANCELLED)

    def _wait_alone(self, job: SynthesisJob) -> None:
        job.state, job.share = JobState.WAITING, 0.0
        job.ran_concurrently, job.is_exclusive = False, True
        self._show(job)

    def _end(self, job: SynthesisJob, state: JobState) -> None:
        job.state, job.share = state, 1.0 if state is JobState.DONE else job.share
        self._show(job)
        self.job_finished.emit(job)
        if job.synthesis is not None:
            job.synthesis.forget_sound()  # of a long script it would fill the memory

    def _on_progress(self, job: SynthesisJob, stage: str, share: float) -> None:
        job.stage, job.share = stage, share if stage == "speech" else 0.0
        self._show(job)

    def _show(self, job: SynthesisJob) -> None:
        self._show_line(job.line_id)
        self.job_changed.emit(job)

    def _show_line(self, line_id: str) -> None:
        """A line that is at work says so; its last failure is shown until it is asked for again."""
        ours = self._of_line.get(line_id)
        at_work = self.job_of(line_id)
        if at_work is not None:
            state = LineState.SPEAKING if at_work.state is JobState.SPEAKING else LineState.QUEUED
            self._live_states.set(line_id, LineStatus(state, at_work.share))
        elif ours and ours[-1].state is JobState.FAILED:
            self._live_states.set(line_id, LineStatus(LineState.FAILED, error=ours[-1].error))
        else:
            self._live_states.set(line_id, None)


def _place_in(jobs: list[SynthesisJob], *, goes_first: bool) -> int:
    """Where further ones belong: after all, or before those that wait."""
    waiting = (place for place, job in enumerate(jobs) if job.state is JobState.WAITING)
    return next(waiting, len(jobs)) if goes_first else len(jobs)
