"""In the process that tries: record if need be, build, open, verify, time, and say what came of it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from studio.engines.candidate import BuildCancelled, EngineBackend, EngineTarget
from studio.engines.machine import budget_bytes
from studio.engines.manifest import FailureKind
from studio.engines.memory import is_out_of_memory
from studio.engines.reference_io import ReferenceIO, read_recording, record
from studio.engines.registry import all_candidates
from studio.engines.stage import DeviceKind, Stage
from studio.engines.store import file_records
from studio.engines.task import LISTENING, TIMING, VERIFYING, Failed, News, Proven, Step, TrialTask, WasCancelled
from studio.engines.trial_process import TrialControl
from studio.engines.trials import TRIALS, time_interleaved
from studio.errors import StudioError
from studio.model.checkpoint import open_checkpoint
from studio.model.stream_pool import set_device
from studio.model.torch_setup import configure_torch
from studio.wording import wording

_log = logging.getLogger(__name__)
# Steps come faster than anybody looks.
_LEAST_SECONDS_BETWEEN_STEPS = 0.1


def run_trial(task: TrialTask, obedience: TrialControl) -> News:
    """The outcome of ``task``, whatever happens on the way but the end of the process."""
    try:
        return _try(task, TrialProgress(obedience))
    except BuildCancelled:
        return WasCancelled()
    except StudioError as error:
        _log.exception("refused")
        return Failed(FailureKind.MEMORY if is_out_of_memory(error) else FailureKind.FAILED, error.problem)
    except OSError as error:
        _log.exception("the disk")
        return Failed(FailureKind.FAILED, wording("a file cannot be written or read: {reason}", reason=error))
    except Exception as error:  # noqa: BLE001 - the border of the process: whatever a library raises is a reason
        _log.exception("failed")
        if is_out_of_memory(error):
            return Failed(FailureKind.MEMORY, wording("there was not enough memory for it"))
        first_line = (str(error).strip().splitlines() or [""])[0]
        return Failed(FailureKind.FAILED, wording("{kind}: {text}", kind=type(error).__name__, text=first_line))


class TrialProgress:
    """The parts of the trial in their order, with the seconds each took."""

    def __init__(self, obedience: TrialControl) -> None:
        self.obedience = obedience
        self.seconds: dict[str, float] = {}
        self.phases: tuple[str, ...] = (LISTENING, VERIFYING, TIMING)
        self._phase = ""
        self._since = time.monotonic()
        self._said_at = 0.0

    def report(self, phase: str, done: float, total: float) -> None:
        """Blocks while paused. Raises ``BuildCancelled``."""
        if not self.obedience.should_continue():
            raise BuildCancelled
        assert phase in self.phases, f"{phase} is not one of the phases {self.phases}"
        now = time.monotonic()
        is_new = phase != self._phase
        if is_new:
            self.close()
            self._phase, self._since = phase, now
        if is_new or done >= total or now - self._said_at > _LEAST_SECONDS_BETWEEN_STEPS:
            self._said_at = now
            self.obedience.say(Step(phase, self.phases.index(phase), len(self.phases), done, total))

    def close(self) -> None:
        """The phase that was at work is over."""
        if self._phase:
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + time.monotonic() - self._since
            self._phase = ""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """What a build is given; see ``candidate.BuildJob``."""

    subject: EngineTarget
    workspace: Path
    timing_cache: Path
    memory_bytes: int
    progress: TrialProgress

    def report(self, phase: str, done: float, total: float) -> None:
        self.progress.report(phase, done, total)

    def should_continue(self) -> bool:
        return self.progress.obedience.should_continue()


def _try(task: TrialTask, progress: TrialProgress) -> News:
    configure_torch(task.place.num_threads)
    if task.place.kind is DeviceKind.CUDA:
        set_device(torch.device(task.place.device))
    subject = EngineTarget(open_checkpoint(task.model_folder), task.place, task.variant)
    candidates = all_candidates(task.modules)
    candidate = next(c for c in candidates if (c.stage, c.name) == (task.stage, task.name))
    references = references_of(candidates)
    reference = references[task.stage]
    progress.phases = (LISTENING, *(() if task.is_built else candidate.phases), VERIFYING, TIMING)
    recording = _recording(task, subject, references, progress)

    if candidate.phases and not task.is_built:
        progress.report(candidate.phases[0], 0, 1)
        job = BuildContext(subject, task.workspace, task.timing_cache, budget_bytes(task.place), progress)
        candidate.build(job)

    trial = TRIALS[task.stage](recording, subject.checkpoint, task.extent)
    progress.report(VERIFYING, 0, 1)
    engine = candidate.open(task.workspace if candidate.phases else None, subject)
    verification = trial.verify(engine, candidate.precision)
    timing = None
    if verification.complaint is None:
        progress.report(TIMING, 0, 1)
        turns = iter(range(task.extent.num_rounds + 1))
        timing = time_interleaved(
            trial,
            engine,
            engine if candidate is reference else reference.open(None, subject),
            between=lambda: progress.report(TIMING, next(turns), task.extent.num_rounds + 1),
        )
    progress.close()
    files = file_records(task.workspace) if verification.complaint is None else {}
    return Proven(verification, timing, progress.seconds, files)


def references_of(candidates: tuple[EngineBackend, ...]) -> dict[Stage, EngineBackend]:
    """Of each stage the candidate that the others are held to: the first."""
    references: dict[Stage, EngineBackend] = {}
    for candidate in candidates:
        references.setdefault(candidate.stage, candidate)
    return references


def _recording(
    task: TrialTask, subject: EngineTarget, references: dict[Stage, EngineBackend], progress: TrialProgress
) -> ReferenceIO:
    progress.report(LISTENING, 0, len(references))
    recording = read_recording(task.recording)
    if recording is None:
        stages = list(references)
        recording = record(
            subject,
            references,
            task.extent,
            report=lambda stage: progress.report(LISTENING, stages.index(stage), len(stages)),
        )
        recording.write(task.recording)
    return recording
