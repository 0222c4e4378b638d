"""Find the fastest correct engine of each stage while the program runs on plain torch.

``overview`` returns a snapshot of the state. ``improve`` tries candidates, each in its own process, for one caller at a
time. ``open_choice`` opens the best verified engine, or the next one if that fails. All are thread-safe.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import studio
from studio.engines.candidate import MODULES, AnyStage, Available, EngineTarget, all_candidates
from studio.engines.candidate_states import CandidateState, list_candidate_states
from studio.engines.history import phase_history, remaining_seconds
from studio.engines.ladder import choose, resource_shortage
from studio.engines.library_errors import is_device_lost, is_out_of_memory
from studio.engines.machine import budget_bytes
from studio.engines.manifest import FailureKind, Manifest
from studio.engines.overview import CandidateView, CurrentTrial, EngineStatus, StageView, Status, Suspension
from studio.engines.reference_io import reference_file_name
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.engines.task import (
    RECORDING,
    TIMING,
    VERIFYING,
    Completed,
    Failed,
    Step,
    TrialSize,
    TrialTask,
    WasCancelled,
    default_trial_size,
)
from studio.engines.trial_process import TrialProcess
from studio.errors import StudioError
from studio.messages import Message, message
from studio.model.measurements import now
from studio.system.processor import others_kept_busy

_log = logging.getLogger(__name__)
_KILL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class OpenedStage:
    """An opened stage and the candidate it came from."""

    engine: AnyStage
    view: CandidateView


class EngineManager:
    """Engines of one model on one device.

    ``on_change`` receives every new status, on the thread that caused it. ``was_disturbed`` returns whether a timing
    that has just ended is unreliable. Trials have a low priority if ``has_low_priority`` is set, because they run
    alongside other work; it is off if the user waits for them.
    """

    def __init__(
        self,
        target: EngineTarget,
        store: EngineStore,
        *,
        modules: tuple[str, ...] = MODULES,
        trial_size: TrialSize | None = None,
        start_trial: Callable[..., TrialProcess] = TrialProcess,
        has_low_priority: bool = True,
        on_change: Callable[[EngineStatus], None] = lambda _overview: None,
        was_disturbed: Callable[[int | None], bool] = others_kept_busy,
    ) -> None:
        self.target = target
        self.store = store
        self._modules = modules
        self._trial_size = trial_size or default_trial_size(target.device)
        self._start_trial = start_trial
        self._has_low_priority = has_low_priority
        self._on_change = on_change
        self._was_disturbed = was_disturbed
        self._states = list_candidate_states(all_candidates(modules), target, store)
        self._lock = threading.RLock()
        self._work: CurrentTrial | None = None
        # Held while suspensions change and the trial is commanded, so that a late resume cannot overtake a pause.
        self._trial_lock = threading.Lock()
        self._trial: TrialProcess | None = None
        self._has_no_trial = threading.Event()
        self._has_no_trial.set()
        self._suspensions: set[Suspension] = set()
        self._is_cancelled = False
        self._is_closed = False
        self._failed_to_open: set[str] = set()
        self._too_large_now: set[str] = set()
        self._notes: list[Message] = []
        store.remove_stale()

    def overview(self) -> EngineStatus:
        with self._lock:
            return EngineStatus(
                model_name=self.target.checkpoint.folder.name,
                device=self.target.device,
                stages=tuple(self._stage_view(stage) for stage in Stage if self._stage_states(stage)),
                kept_bytes=self.store.num_bytes(),
                limit_bytes=self.store.limit_bytes,
                work=self._work,
                is_paused=Suspension.PAUSED in self._suspensions,
                notes=tuple(self._notes),
            )

    def _stage_view(self, stage: Stage) -> StageView:
        states = self._stage_states(stage)
        views = [state.view() for state in states]
        if (work := self._work) is not None and work.stage is stage:
            views = [
                replace(view, status=Status.TRYING, reason=None) if view.name == work.name else view for view in views
            ]
        choice = choose(views, excluded=frozenset(self._failed_to_open | self._too_large_now))
        return StageView(stage, choice.name, tuple(views))

    def _stage_states(self, stage: Stage) -> list[CandidateState]:
        return [state for state in self._states if state.candidate.stage is stage]

    def improve(self, stages: Collection[Stage] = tuple(Stage), *, again: Collection[str] = ()) -> EngineStatus:
        """Try all untested candidates, references first; return when done or cancelled.

        Candidates whose keys are in ``again`` are tested again; existing builds are verified and timed, not rebuilt.
        """
        self._is_cancelled = False
        due = [state for state in self._states if state.candidate.stage in stages and self._is_due(state, again)]
        due.sort(key=lambda state: not state.is_reference)
        for index, state in enumerate(due, start=1):
            if self._is_cancelled or self._is_closed:
                break
            if self._is_due(state, again):
                self._try(state, index, len(due), is_again=state.key in again)
        self._set_work(None)
        return self.overview()

    def disturbed_keys(self) -> frozenset[str]:
        """Return the keys of the candidates whose timing is unreliable and must be repeated."""
        manifests = {state.key: state.manifest for state in self._states}
        return frozenset(key for key, manifest in manifests.items() if manifest is not None and manifest.was_disturbed)

    def suspend(self, reason: Suspension) -> None:
        """Suspend the running trial and later ones until ``resume`` is called with the same reason."""
        self._change_suspensions(lambda: self._suspensions.add(reason))

    def resume(self, reason: Suspension) -> None:
        self._change_suspensions(lambda: self._suspensions.discard(reason))

    def _change_suspensions(self, change: Callable[[], None]) -> None:
        before = Suspension.PAUSED in self._suspensions
        with self._trial_lock:
            change()
            if self._trial is not None:
                self._trial.pause() if self._suspensions else self._trial.resume()
        if before != (Suspension.PAUSED in self._suspensions):
            self._notify()

    def cancel(self, *, at_once: bool = False) -> None:
        """End ``improve``. The running trial is discarded and repeated later.

        With ``at_once``, its process is killed; return when its memory is free.
        """
        with self._trial_lock:
            self._is_cancelled = True
            if self._trial is not None:
                self._trial.cancel()
                if at_once:
                    self._trial.kill()
        if at_once:
            self._has_no_trial.wait(_KILL_SECONDS)

    def close(self) -> None:
        """End ``improve`` immediately and permanently."""
        self._is_closed = True
        self.cancel(at_once=True)

    def could_try_with(self, more_bytes: int) -> bool:
        """Return whether candidates that lack memory now could be tried with ``more_bytes``."""
        return any(
            state.view().status is Status.INSUFFICIENT_RESOURCES and state.missing_resources(more_bytes) is None
            for state in self._states
        )

    def clear(self, keys: Collection[str] | None = None) -> int:
        """Delete the builds and results of this model's candidates, all or those of ``keys``; return the bytes freed.

        The next ``improve`` repeats the trials.
        """
        mine = {state.key for state in self._states if state.key}
        with self._lock:
            self._failed_to_open.clear()
            self._too_large_now.clear()
            self._notes.clear()
            for state in self._states:
                state.failed_now = None
        freed = self.store.clear(mine if keys is None else mine & set(keys))
        self._notify()
        return freed

    def _is_due(self, state: CandidateState, again: Collection[str]) -> bool:
        return state.view().status.can_be_tried or (bool(state.key) and state.key in again)

    def _try(self, state: CandidateState, index: int, total: int, *, is_again: bool) -> None:
        self._set_work(CurrentTrial(state.candidate.stage, state.candidate.name, index, total))
        try:
            with self.store.workspace(state.key) as workspace:
                if self.store.manifest(state.key, state.facts) is not None and not is_again:
                    return  # another process has just finished it
                is_built = is_again and self._copy_build(state, workspace)
                self.store.begin(state.key)
                self._run_trial(state, workspace, is_built=is_built)
        except BlockingIOError:
            _log.info("%s is tried by another process", state.key)
        except OSError as error:
            self._fail(state, FailureKind.FAILED, message("a file cannot be written or read: {reason}", reason=error))
        except StudioError as error:
            self._fail(state, FailureKind.FAILED, error.problem)

    def _copy_build(self, state: CandidateState, workspace: Path) -> bool:
        """Copy an existing build into the workspace to verify it again; return False if there is none."""
        manifest = state.manifest
        if manifest is None or not manifest.files or (files := self.store.verified_files(manifest)) is None:
            return False
        for name in manifest.files:
            target = workspace / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files / name, target)
        return True

    def _run_trial(self, state: CandidateState, workspace: Path, *, is_built: bool) -> None:
        task = TrialTask(
            model_folder=self.target.checkpoint.folder,
            variant=self.target.variant,
            device=self.target.device,
            stage=state.candidate.stage,
            name=state.candidate.name,
            modules=self._modules,
            workspace=workspace,
            reference_path=self.store.folder / "recorded" / reference_file_name(self.target, self._trial_size),
            timing_cache=self.store.timing_cache(state.candidate.name),
            trial_size=self._trial_size,
            is_built=is_built,
            has_low_priority=self._has_low_priority,
        )
        trial = self._start_trial(task, build_timeout_seconds=state.candidate.build_timeout_seconds)
        estimate = _Estimate(state, phase_history(self.store.all_manifests(), task.stage.value, task.name))
        with self._trial_lock:
            self._trial = trial
            self._has_no_trial.clear()
            if self._suspensions:
                trial.pause()
            if self._is_cancelled or self._is_closed:
                trial.cancel()
        try:
            for report in trial.reports():
                match report:
                    case Step():
                        self._update_progress(report, estimate)
                    case Completed():
                        manifest = _manifest(state, report)
                        was_disturbed = manifest.timing is not None and self._was_disturbed(
                            self.target.device.num_threads
                        )
                        self.store.install(workspace, replace(manifest, was_disturbed=was_disturbed))
                    case Failed(kind, reason):
                        self._fail(state, kind, reason)
                    case WasCancelled():
                        self.store.cancel_attempt(state.key)
        except KeyboardInterrupt:
            self.store.cancel_attempt(state.key)
            raise
        finally:
            with self._trial_lock:
                self._trial = None
                self._has_no_trial.set()

    def _update_progress(self, step: Step, estimate: _Estimate) -> None:
        if self._work is not None:
            self._set_work(replace(self._work, step=step, remaining_seconds=estimate.after(step)))

    def _fail(self, state: CandidateState, kind: FailureKind, reason: Message) -> None:
        _log.warning("%s failed: %s", state.key, reason)
        state.failed_now = reason
        self.store.fail(state.key, kind, reason)

    def open_choice(self, stage: Stage) -> OpenedStage | None:
        """Open the fastest verified engine of ``stage``; return None if none is verified, so that plain torch runs.

        A damaged build is deleted; one that fails to open or does not fit into memory is skipped with a note, and the
        next is opened. Free memory is checked on every call.
        """
        with self._lock:
            self._too_large_now -= {state.key for state in self._stage_states(stage)}
        while True:
            state, view = self._choice(stage)
            if view.status is not Status.VERIFIED:
                return None
            if (engine := self._opened(state)) is not None:
                return OpenedStage(engine, view)
            if view.is_reference:
                return None

    def opens_slowly(self, stage: Stage) -> bool:
        """Return whether ``open_choice`` would take noticeably long."""
        probed = self._choice(stage)[0].probed
        return isinstance(probed, Available) and probed.opens_slowly

    def _choice(self, stage: Stage) -> tuple[CandidateState, CandidateView]:
        with self._lock:
            view = self._stage_view(stage).choice
        return next(state for state in self._stage_states(stage) if state.candidate.name == view.name), view

    def _opened(self, state: CandidateState) -> AnyStage | None:
        manifest, title = state.manifest, state.title
        if manifest is None:
            return None
        if (reason := self._memory_shortage(state)) is not None:
            self._exclude(
                state, self._too_large_now, message("{engine} is not used now: {reason}", engine=title, reason=reason)
            )
            return None
        files = self.store.verified_files(manifest)
        if files is None:
            self._note(message("{engine} was damaged on disk and will be rebuilt", engine=title))
            return None
        try:
            return state.candidate.open(files if state.candidate.phases else None, state.target)
        except Exception as error:  # third-party boundary: on any failure fall back to the next engine
            _log.exception("%s does not open", state.key)
            if is_device_lost(error):
                raise  # no other engine would open either, so keep this intact build
            if is_out_of_memory(error):
                self._exclude(state, self._too_large_now, message("not enough memory for {engine} now", engine=title))
                return None
            note = message("{engine} failed to open ({reason}) and will be rebuilt", engine=title, reason=error)
            self._exclude(state, self._failed_to_open, note)
            self.store.discard(state.key)
            return None

    def _exclude(self, state: CandidateState, excluded: set[str], note: Message) -> None:
        """Add the candidate to one of the sets from which no engine is chosen, and notify the user."""
        with self._lock:
            excluded.add(state.key)
        self._note(note)

    def _memory_shortage(self, state: CandidateState) -> Message | None:
        """Return the reason if memory is too small.

        Checked in advance: the system kills a process that exhausts RAM.
        """
        if not isinstance(state.probed, Available) or state.is_reference:
            return None
        return resource_shortage(state.probed.memory_bytes, budget_bytes(self.target.device))

    def _note(self, note: Message) -> None:
        with self._lock:
            if note not in self._notes:
                self._notes.append(note)
        self._notify()

    def _set_work(self, work: CurrentTrial | None) -> None:
        with self._lock:
            self._work = work
        self._notify()

    def _notify(self) -> None:
        self._on_change(self.overview())


class _Estimate:
    """Estimates a trial's remaining seconds from its steps."""

    def __init__(self, state: CandidateState, past: dict[str, float]) -> None:
        self._phases = (RECORDING, *state.candidate.phases, VERIFYING, TIMING)
        self._past = past
        self._phase = ""
        self._phase_started_at = 0.0

    def after(self, step: Step) -> float | None:
        now = time.monotonic()
        if step.phase != self._phase:
            self._phase, self._phase_started_at = step.phase, now
        return remaining_seconds(step, self._phases, self._past, now - self._phase_started_at)


def _manifest(state: CandidateState, completed: Completed) -> Manifest:
    return Manifest(
        key=state.key,
        facts=state.facts,
        made_at=now(),
        program_version=studio.__version__,
        verification=completed.verification,
        timing=completed.timing,
        phase_seconds=completed.phase_seconds,
        files=completed.files,
    )
