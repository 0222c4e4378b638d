"""Probes, builds, verifies and times every usable candidate; a failure is an entry of the result."""

from __future__ import annotations

import gc
import shutil
import sys
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch

from measurements.gpu.fastest import fastest_in_words
from studio.engines.candidate import AnyStage, BuildJob, EngineBackend, EngineTarget, Unusable, find_references
from studio.engines.machine import budget_bytes, free_bytes
from studio.engines.reference_io import ReferenceIO, random_tokens, streamed_mel
from studio.engines.stage import Stage
from studio.engines.task import TrialSize
from studio.engines.trials import TRIALS, StageBenchmark, time_single
from studio.model.config import Precision
from studio.model.stages import FlowDecoder

Entry = dict[str, Any]


class Job(BuildJob):
    """A build job without cancellation; progress goes to the log."""

    def report(self, phase: str, done: float, total: float) -> None:
        print(f"{phase} {done:.2f}/{total:g}", file=sys.stderr, flush=True)

    def should_continue(self) -> bool:
        return True


@dataclass(frozen=True)
class Exam:
    """Tests the candidates of a model; ``built`` is the folder of built engines."""

    target: EngineTarget
    candidates: tuple[EngineBackend, ...]
    recording: ReferenceIO
    extent: TrialSize
    built: Path

    def workspace(self, candidate: EngineBackend) -> Path:
        return self.built / f"{candidate.stage.value}-{candidate.name}"

    def opened(self, candidate: EngineBackend) -> AnyStage:
        return candidate.open(self.workspace(candidate) if candidate.phases else None, self.target)

    def candidate(self, stage: Stage, name: str) -> EngineBackend:
        return next(candidate for candidate in self.candidates if (candidate.stage, candidate.name) == (stage, name))

    def opened_by_name(self, names: Mapping[Stage, str]) -> dict[Stage, AnyStage]:
        """Open the named candidate of each stage."""
        return {stage: self.opened(self.candidate(stage, name)) for stage, name in names.items()}

    def entry(self, candidate: EngineBackend) -> Entry:
        """Probe, build, verify and time a candidate; errors are recorded in the entry."""
        entry: Entry = {
            "stage": candidate.stage.value,
            "name": candidate.name,
            "engine": candidate.engine,
            "precision": candidate.precision.value,
            "is_reference": find_references(self.candidates)[candidate.stage] is candidate,
        }
        forget()
        free_before = free_bytes(self.target.device)
        try:
            usable = candidate.probe(self.target)
            if isinstance(usable, Unusable):
                return entry | {"unusable": str(usable.reason)}
            entry |= self._built(candidate)
            started = time.perf_counter()
            engine = self.opened(candidate)
            entry["open_seconds"] = time.perf_counter() - started
            trial = TRIALS[candidate.stage](self.recording, self.target.checkpoint, self.extent)
            entry |= _timed(trial, engine)
            entry["verification"] = _verified(trial, candidate, engine)
            entry["memory_bytes"] = free_before - free_bytes(self.target.device)
        except Exception as error:  # noqa: BLE001 - the next candidate is tried
            entry["error"] = described(error)
        return entry

    def _built(self, candidate: EngineBackend) -> Entry:
        if not candidate.phases:
            return {}
        workspace = self.workspace(candidate)
        shutil.rmtree(workspace, ignore_errors=True)
        workspace.mkdir(parents=True)
        started = time.perf_counter()
        memory_bytes = budget_bytes(self.target.device)
        candidate.build(Job(self.target, workspace, self.built / "timing-cache", memory_bytes))
        seconds = time.perf_counter() - started
        return {"build_seconds": seconds, "built_bytes": sum(path.stat().st_size for path in workspace.iterdir())}

    def long_lines(self, name: str, num_tokens: int, num_seeds: int) -> Iterator[Entry]:
        """Test whether a flow stays finite over long lines of random tokens; yields after each line."""
        flow = cast("FlowDecoder", self.opened(self.candidate(Stage.FLOW, name)))
        prompt = self.recording.flow_prompt()
        seconds_each = self.target.checkpoint.generation.seconds_of_tokens(num_tokens)
        with torch.inference_mode():
            state = flow.prepare_prompt(prompt)
            for seed in range(num_seeds):
                tokens = random_tokens(self.target.checkpoint.speech_lm, num_tokens, seed)
                line = streamed_mel(flow, state, len(prompt.speech_tokens), tokens)
                is_finite = all(bool(mel.isfinite().all()) for mel in line)
                yield {"is_finite": is_finite, "num_seeds": seed + 1, "seconds_each": seconds_each}
                if not is_finite:
                    return


def _timed(trial: StageBenchmark, engine: AnyStage) -> Entry:
    """Time the engine alone, before verification, because time may run out."""
    first, total = time_single(trial, engine)
    seconds = total / trial.audio_seconds
    timing: Entry = {"timing": {"seconds_per_audio_second": seconds, "first_seconds": first}}
    if trial.stage is Stage.SPEECH_LM:
        timing["tokens_per_second"] = trial.checkpoint.generation.token_rate / seconds
    return timing


def _verified(trial: StageBenchmark, candidate: EngineBackend, engine: AnyStage) -> Entry:
    verification = trial.verify(engine, candidate.precision)
    complaint = verification.rejection
    return asdict(verification) | {"complaint": None if complaint is None else str(complaint)}


def fastest(entries: Iterable[Entry], *, precisions: Collection[Precision] = tuple(Precision)) -> dict[Stage, str]:
    """Return the name of the fastest verified candidate of each stage, among ``precisions``."""
    permitted = {precision.value for precision in precisions}
    names = fastest_in_words(entry for entry in entries if entry["precision"] in permitted)
    return {Stage(stage): name for stage, name in names.items()}


def described(error: BaseException) -> Entry:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return {
        "kind": type(error).__name__,
        "message": str(error)[:500],
        "at": f"{Path(last.filename).name}:{last.lineno}",
    }


def forget() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
