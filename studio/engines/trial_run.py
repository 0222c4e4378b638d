"""Run a trial inside the child process: build the candidate, verify it against plain float32, and time it."""

from __future__ import annotations

import gc
import logging
import time
from dataclasses import dataclass

import torch

from studio.engines.candidate import (
    Available,
    BuildCancelled,
    BuildJob,
    EngineBackend,
    EngineTarget,
    all_candidates,
    find_references,
)
from studio.engines.library_errors import is_out_of_memory
from studio.engines.machine import budget_bytes, empty_cache
from studio.engines.manifest import FailureKind
from studio.engines.reference_io import ReferenceIO, read_reference, record_reference
from studio.engines.stage import Stage
from studio.engines.store import file_records
from studio.engines.task import (
    RECORDING,
    TIMING,
    VERIFYING,
    Completed,
    Failed,
    Report,
    Step,
    TrialControl,
    TrialTask,
    WasCancelled,
)
from studio.engines.trials import TRIALS, time_alone, time_interleaved, time_single
from studio.errors import StudioError
from studio.messages import message
from studio.model.checkpoint import open_checkpoint
from studio.model.torch_device import configure_torch, set_device

_log = logging.getLogger(__name__)
_STEP_INTERVAL_SECONDS = 0.1


def run_trial(task: TrialTask, control: TrialControl) -> Report:
    """Run ``task`` and return its outcome; every exception becomes ``Failed`` or ``WasCancelled``."""
    try:
        return _run(task, TrialProgress(control))
    except BuildCancelled:
        return WasCancelled()
    except StudioError as error:
        _log.exception("the trial failed")
        return Failed(FailureKind.MEMORY if is_out_of_memory(error) else FailureKind.FAILED, error.problem)
    except OSError as error:
        _log.exception("a file error")
        return Failed(FailureKind.FAILED, message("a file cannot be written or read: {reason}", reason=error))
    except Exception as error:  # noqa: BLE001 - process boundary: libraries raise exceptions of any type
        _log.exception("the trial failed")
        if is_out_of_memory(error):
            return Failed(FailureKind.MEMORY, message("there is not enough memory"))
        first_line = (str(error).strip().splitlines() or [""])[0]
        return Failed(FailureKind.FAILED, message("{kind}: {text}", kind=type(error).__name__, text=first_line))


class TrialProgress:
    """Progress of a trial: sends a ``Step`` at most every 0.1 s and sums the seconds of each phase."""

    def __init__(self, control: TrialControl) -> None:
        self.control = control
        self.seconds: dict[str, float] = {}
        self.phases: tuple[str, ...] = (RECORDING, VERIFYING, TIMING)
        self._phase = ""
        self._phase_started_at = time.monotonic()
        self._sent_at = 0.0

    def report(self, phase: str, done: float, total: float) -> None:
        """Report progress. Blocks while paused. Raises ``BuildCancelled``."""
        if not self.control.should_continue():
            raise BuildCancelled
        assert phase in self.phases, f"{phase} is not one of the phases {self.phases}"
        now = time.monotonic()
        is_new = phase != self._phase
        if is_new:
            self.close()
            self._phase, self._phase_started_at = phase, now
        if is_new or done >= total or now - self._sent_at > _STEP_INTERVAL_SECONDS:
            self._sent_at = now
            self.control.send(Step(phase, self.phases.index(phase), len(self.phases), done, total))

    def close(self) -> None:
        """End the current phase."""
        if self._phase:
            elapsed = time.monotonic() - self._phase_started_at
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + elapsed
            self._phase = ""


@dataclass
class TrialBuildJob(BuildJob):
    progress: TrialProgress

    def report(self, phase: str, done: float, total: float) -> None:
        self.progress.report(phase, done, total)

    def should_continue(self) -> bool:
        return self.progress.control.should_continue()


def _run(task: TrialTask, progress: TrialProgress) -> Report:
    configure_torch(task.device.num_threads)
    if task.device.kind.is_gpu:
        set_device(torch.device(task.device.torch_name))
    target = EngineTarget(open_checkpoint(task.model_folder), task.device, task.variant)
    candidates = all_candidates(task.modules)
    candidate = next(c for c in candidates if (c.stage, c.name) == (task.stage, task.name))
    references = find_references(candidates)
    reference = references[task.stage]
    progress.phases = (RECORDING, *(() if task.is_built else candidate.phases), VERIFYING, TIMING)
    reference_io = _reference_io(task, target, references, progress)
    trial = TRIALS[task.stage](reference_io, target.checkpoint, task.trial_size)
    reference_seconds = None
    if candidate is not reference and not _fit_together(candidate, reference, target):
        _, reference_seconds = time_single(
            trial, reference.open(None, target), between=lambda: progress.report(RECORDING, 0, 1)
        )
        _release(target)

    if candidate.phases and not task.is_built:
        progress.report(candidate.phases[0], 0, 1)
        job = TrialBuildJob(target, task.workspace, task.timing_cache, budget_bytes(task.device), progress)
        candidate.build(job)

    rounds = iter(range(task.trial_size.num_rounds + 1))

    def next_round() -> None:
        progress.report(TIMING, next(rounds), task.trial_size.num_rounds + 1)

    progress.report(VERIFYING, 0, 1)
    engine = candidate.open(task.workspace if candidate.phases else None, target)
    verification = trial.verify(engine, candidate.precision)
    timing = None
    if verification.rejection is None:
        progress.report(TIMING, 0, 1)
        if reference_seconds is not None:
            timing = time_alone(trial, engine, reference_seconds, next_round)
        else:
            other = engine if candidate is reference else reference.open(None, target)
            timing = time_interleaved(trial, engine, other, next_round)
    progress.close()
    files = file_records(task.workspace) if verification.rejection is None else {}
    return Completed(verification, timing, progress.seconds, files)


def _fit_together(candidate: EngineBackend, reference: EngineBackend, target: EngineTarget) -> bool:
    """Return whether there is memory for both at once. If not, they are timed one after the other."""
    probed = candidate.probe(target), reference.probe(target)
    needed = sum(found.memory_bytes for found in probed if isinstance(found, Available))
    return needed <= budget_bytes(target.device)


def _release(target: EngineTarget) -> None:
    """Free the memory of closed engines before the next one reads how much is free."""
    gc.collect()
    empty_cache(target.device.torch_name)


def _reference_io(
    task: TrialTask, target: EngineTarget, references: dict[Stage, EngineBackend], progress: TrialProgress
) -> ReferenceIO:
    progress.report(RECORDING, 0, len(references))
    reference_io = read_reference(task.reference_path)
    if reference_io is None:
        stages = list(references)
        reference_io = record_reference(
            target,
            references,
            task.trial_size,
            report=lambda stage: progress.report(RECORDING, stages.index(stage), len(stages)),
        )
        reference_io.write(task.reference_path)
        _release(target)
    return reference_io
