"""Find the fastest correct engine of each stage while the program runs on plain torch.

``overview`` describes what is known; ``improve`` tries candidates, each in its own process, for one caller at a time;
``open_choice`` opens the best proven engine, or the next where that fails. Callers may be on different threads.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import studio
from studio.engines.candidate import AnyStage, Available, EngineTarget
from studio.engines.candidate_states import CandidateState, being_tried, candidate_states_of
from studio.engines.history import phase_history, remaining_seconds
from studio.engines.ladder import choose, no_room_for
from studio.engines.lost_device import is_device_lost
from studio.engines.machine import budget_bytes
from studio.engines.manifest import FailureKind, Manifest
from studio.engines.memory import is_out_of_memory
from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status
from studio.engines.reference_io import recording_name
from studio.engines.registry import MODULES, all_candidates
from studio.engines.stage import Stage
from studio.engines.store import EngineStore, Workspace
from studio.engines.task import LISTENING, TIMING, VERIFYING, Failed, News, Proven, Step, TrialTask, WasCancelled
from studio.engines.trial_process import TrialProcess
from studio.engines.trial_size import TrialSize, usual_extent
from studio.errors import StudioError
from studio.wording import Message, wording

_log = logging.getLogger(__name__)


class Trying(Protocol):
    """A trial at work; ``trial_process.TrialProcess`` is the real one."""

    def news(self) -> Iterator[News]: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def cancel(self) -> None: ...

    def kill(self) -> None: ...


class StartTrial(Protocol):
    def __call__(self, task: TrialTask, *, longest_silence_seconds: float) -> Trying: ...


@dataclass(frozen=True, slots=True)
class OpenedStage:
    """A stage that may speak: what was opened, and which candidate it is."""

    engine: AnyStage
    view: CandidateView


class EngineManager:
    """Of one model at one place. ``on_change`` is called with every new picture, on whichever thread made it.

    ``gives_way``: trials leave the machine to other work; not where somebody waits for them.
    """

    def __init__(
        self,
        subject: EngineTarget,
        store: EngineStore,
        *,
        modules: tuple[str, ...] = MODULES,
        extent: TrialSize | None = None,
        start_trial: StartTrial = TrialProcess,
        gives_way: bool = True,
        on_change: Callable[[EngineStatus], None] = lambda _overview: None,
    ) -> None:
        self.subject = subject
        self.store = store
        self._modules = modules
        self._extent = extent or usual_extent(subject.device)
        self._start_trial = start_trial
        self._gives_way = gives_way
        self._on_change = on_change
        self._rungs = candidate_states_of(all_candidates(modules), subject, store)
        self._lock = threading.RLock()
        self._work: CurrentTrial | None = None
        # Flags and the order to the trial change together: else a late resume overtakes a pause.
        self._trial_lock = threading.Lock()
        self._trial: Trying | None = None
        self._is_paused = False
        self._is_aside = False
        self._is_cancelled = False
        self._is_closed = False
        self._unfit: set[str] = set()
        self._too_large_now: set[str] = set()
        self._notes: list[Message] = []
        store.remove_stale()

    # What is known.

    def overview(self) -> EngineStatus:
        with self._lock:
            return EngineStatus(
                model_name=self.subject.checkpoint.folder.name,
                place=self.subject.device,
                stages=tuple(self._stage_view(stage) for stage in Stage if self._candidate_states_of(stage)),
                kept_bytes=self.store.num_bytes(),
                limit_bytes=self.store.limit_bytes,
                work=self._work,
                is_paused=self._is_paused,
                notes=tuple(self._notes),
            )

    def _stage_view(self, stage: Stage) -> StageView:
        rungs = self._candidate_states_of(stage)
        views = [rung.view(rungs[0]) for rung in rungs]
        if self._work is not None and self._work.stage is stage:
            views = [being_tried(view) if view.name == self._work.name else view for view in views]
        return StageView(stage, choose(views, unfit=frozenset(self._unfit | self._too_large_now)).name, tuple(views))

    def _candidate_states_of(self, stage: Stage) -> list[CandidateState]:
        return [rung for rung in self._rungs if rung.candidate.stage is stage]

    # Trying.

    def improve(self, stages: Collection[Stage] = tuple(Stage), *, again: Collection[str] = ()) -> EngineStatus:
        """Tries what nothing is known of, the references first; returns when that is done or was cancelled.

        ``again``: keys that are tried whatever is known of them; a thing that was built before is proven anew.
        """
        self._is_cancelled = False
        waiting = [rung for rung in self._rungs if rung.candidate.stage in stages and self._is_due(rung, again)]
        waiting.sort(key=lambda rung: not rung.is_reference)
        for index, rung in enumerate(waiting, start=1):
            if self._is_cancelled or self._is_closed:
                break
            if self._is_due(rung, again):
                self._try(rung, index, len(waiting), is_again=rung.key in again)
        self._set_work(None)
        return self.overview()

    def pause(self) -> None:
        """Hold the running trial and those that follow until ``resume``."""
        self._hold(is_paused=True)
        self._tell()

    def resume(self) -> None:
        self._hold(is_paused=False)
        self._tell()

    def step_aside(self) -> None:
        """Hold trials during a request: they would slow it down and measure wrongly."""
        self._hold(is_aside=True)

    def step_back(self) -> None:
        self._hold(is_aside=False)

    def _hold(self, *, is_paused: bool | None = None, is_aside: bool | None = None) -> None:
        with self._trial_lock:
            self._is_paused = self._is_paused if is_paused is None else is_paused
            self._is_aside = self._is_aside if is_aside is None else is_aside
            if self._trial is not None:
                self._trial.pause() if self._is_paused or self._is_aside else self._trial.resume()

    def cancel(self) -> None:
        """End ``improve``. The running trial leaves nothing and is repeated another time."""
        with self._trial_lock:
            self._is_cancelled = True
            if self._trial is not None:
                self._trial.cancel()

    def close(self) -> None:
        """End ``improve`` at once and for good."""
        self._is_closed = True
        self.cancel()
        with self._trial_lock:
            if self._trial is not None:
                self._trial.kill()

    def forget(self, keys: Collection[str] | None = None) -> int:
        """Throws built things and verdicts away, of all candidates of this model or of ``keys``; the bytes that were freed.

        They are made again by the next ``improve``.
        """
        mine = {rung.key for rung in self._rungs if rung.key}
        with self._lock:
            self._unfit.clear()
            self._too_large_now.clear()
            self._notes.clear()
            for rung in self._rungs:
                rung.failed_now = None
        freed = self.store.clear(mine if keys is None else mine & set(keys))
        self._tell()
        return freed

    def _is_due(self, rung: CandidateState, again: Collection[str]) -> bool:
        reference = self._candidate_states_of(rung.candidate.stage)[0]
        return rung.view(reference).status.can_be_tried or (bool(rung.key) and rung.key in again)

    def _try(self, rung: CandidateState, index: int, total: int, *, is_again: bool) -> None:
        self._set_work(CurrentTrial(rung.candidate.stage, rung.candidate.name, index, total))
        try:
            with self.store.workspace(rung.key) as workspace:
                if self.store.manifest(rung.key, rung.facts) is not None and not is_again:
                    return  # somebody else has just done it
                is_built = is_again and self._lay_out(rung, workspace)
                self.store.begin(rung.key)
                self._follow(rung, workspace, is_built=is_built)
        except BlockingIOError:
            _log.info("%s is tried by another process", rung.key)
        except OSError as error:
            self._fail(rung, FailureKind.FAILED, wording("a file cannot be written or read: {reason}", reason=error))
        except StudioError as error:
            self._fail(rung, FailureKind.FAILED, error.problem)

    def _lay_out(self, rung: CandidateState, workspace: Workspace) -> bool:
        """Puts what was built before into the workspace, to be proven anew; False where it has to be built."""
        manifest = rung.manifest
        if manifest is None or not manifest.files or (files := self.store.verified_files(manifest)) is None:
            return False
        for name in manifest.files:
            target = workspace.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files / name, target)
        return True

    def _follow(self, rung: CandidateState, workspace: Workspace, *, is_built: bool) -> None:
        task = TrialTask(
            model_folder=self.subject.checkpoint.folder,
            variant=self.subject.variant,
            place=self.subject.device,
            stage=rung.candidate.stage,
            name=rung.candidate.name,
            modules=self._modules,
            workspace=workspace.folder,
            recording=self._recording_path(),
            timing_cache=self.store.timing_cache(rung.candidate.name),
            extent=self._extent,
            is_built=is_built,
            gives_way=self._gives_way,
        )
        trial = self._start_trial(task, longest_silence_seconds=rung.candidate.longest_silence_seconds)
        estimate = _Estimate(rung, phase_history(self.store.all_manifests(), task.stage.value, task.name))
        with self._trial_lock:
            self._trial = trial
            if self._is_paused or self._is_aside:
                trial.pause()
            if self._is_cancelled or self._is_closed:
                trial.cancel()
        try:
            for news in trial.news():
                match news:
                    case Step():
                        self._saw(news, estimate)
                    case Proven():
                        self.store.install(workspace, _manifest(rung, news))
                    case Failed(trouble, reason):
                        self._fail(rung, trouble, reason)
                    case WasCancelled():
                        self.store.cancel_attempt(rung.key)
        except KeyboardInterrupt:
            self.store.cancel_attempt(rung.key)
            raise
        finally:
            with self._trial_lock:
                self._trial = None

    def _saw(self, step: Step, estimate: _Estimate) -> None:
        work = self._work
        if work is not None:
            remaining = estimate.after(step)
            self._set_work(CurrentTrial(work.stage, work.name, work.index, work.total, step, remaining))

    def _fail(self, rung: CandidateState, trouble: FailureKind, reason: Message) -> None:
        _log.warning("%s failed: %s", rung.key, reason)
        rung.failed_now = reason
        self.store.fail(rung.key, trouble, reason)

    def _recording_path(self) -> Path:
        return self.store.folder / "recorded" / recording_name(self.subject, self._extent)

    # Speaking.

    def open_choice(self, stage: Stage) -> OpenedStage | None:
        """The fastest proven engine of ``stage``, opened; None where nothing is proven, so that plain torch speaks.

        One whose files are damaged is thrown away, to be made again; one that does not open, or for which memory
        is too small now, is passed over with a note. Then comes the next. Memory is asked anew each time.
        """
        with self._lock:
            self._too_large_now -= {rung.key for rung in self._candidate_states_of(stage)}
        while True:
            with self._lock:
                view = self._stage_view(stage).choice
            if view.status is not Status.PROVEN:
                return None
            rung = next(rung for rung in self._candidate_states_of(stage) if rung.candidate.name == view.name)
            if (engine := self._opened(rung)) is not None:
                return OpenedStage(engine, view)
            if view.is_reference:
                return None

    def opens_slowly(self, stage: Stage) -> bool:
        """Whether ``open_choice`` would keep a person waiting."""
        with self._lock:
            name = self._stage_view(stage).choice.name
        probed = next(rung.probed for rung in self._candidate_states_of(stage) if rung.candidate.name == name)
        return isinstance(probed, Available) and probed.opens_slowly

    def _opened(self, rung: CandidateState) -> AnyStage | None:
        manifest = rung.manifest
        if manifest is None:
            return None
        if (reason := self._no_room_to_open(rung)) is not None:
            with self._lock:
                self._too_large_now.add(rung.key)
            self._note(wording("{engine} does not speak now: {reason}", engine=_title(rung), reason=reason))
            return None
        files = self.store.verified_files(manifest)
        if files is None:
            self._note(wording("{engine} was damaged on the disk and is made again", engine=_title(rung)))
            return None
        try:
            return rung.candidate.open(files if rung.candidate.phases else None, rung.subject)
        except Exception as error:  # a library's border: whatever it is, the next engine speaks
            _log.exception("%s does not open", rung.key)
            if is_device_lost(error):
                raise  # nor does the next, and this one is as good as it was
            is_too_large = is_out_of_memory(error)
            with self._lock:
                (self._too_large_now if is_too_large else self._unfit).add(rung.key)
            if is_too_large:
                self._note(wording("there is not memory enough for {engine} now", engine=_title(rung)))
            else:
                self._note(
                    wording("{engine} does not open ({reason}) and is made again", engine=_title(rung), reason=error)
                )
                self.store.discard(rung.key)
            return None

    def _no_room_to_open(self, rung: CandidateState) -> Message | None:
        """A processor's memory is not refused when it runs out, the program is ended: so it is asked before."""
        if not isinstance(rung.probed, Available) or rung.is_reference:
            return None
        return no_room_for(rung.probed.memory_bytes, budget_bytes(self.subject.device))

    def _note(self, note: Message) -> None:
        with self._lock:
            if note not in self._notes:
                self._notes.append(note)
        self._tell()

    def _set_work(self, work: CurrentTrial | None) -> None:
        with self._lock:
            self._work = work
        self._tell()

    def _tell(self) -> None:
        self._on_change(self.overview())


class _Estimate:
    """The time a trial still needs, as its steps come in."""

    def __init__(self, rung: CandidateState, past: dict[str, float]) -> None:
        self._phases = (LISTENING, *rung.candidate.phases, VERIFYING, TIMING)
        self._past = past
        self._phase = ""
        self._since = 0.0

    def after(self, step: Step) -> float | None:
        now = time.monotonic()
        if step.phase != self._phase:
            self._phase, self._since = step.phase, now
        return remaining_seconds(step, self._phases, self._past, now - self._since)


def _manifest(rung: CandidateState, proven: Proven) -> Manifest:
    return Manifest(
        key=rung.key,
        facts=rung.facts,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        program_version=studio.__version__,
        verification=proven.verification,
        timing=proven.timing,
        phase_seconds=proven.phase_seconds,
        files=proven.files,
    )


def _title(rung: CandidateState) -> Message:
    return wording("{engine} in {precision}", engine=rung.candidate.engine, precision=rung.candidate.precision.value)
