"""Every candidate that is usable here through probe, build, verify and time; what fails is a line, not the end."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from studio.engines.candidate import AnyStage, Candidate, Subject, Unusable
from studio.engines.extent import Extent
from studio.engines.machine import budget_bytes, free_bytes
from studio.engines.recording import TOKENS_PER_SECOND, Recording
from studio.engines.stage import Stage
from studio.engines.trials import TRIALS, time_in_turns
from studio.engines.trying import references_of
from studio.model.config import Precision

Entry = dict[str, Any]


@dataclass
class Job:
    """A build that nobody cancels; what it reports is shown."""

    subject: Subject
    workspace: Path
    timing_cache: Path
    memory_bytes: int

    def report(self, phase: str, done: float, total: float) -> None:
        print(f"\r{phase} {done:.2f}/{total:g}   ", end="", file=sys.stderr, flush=True)

    def may_go_on(self) -> bool:
        return True


@dataclass(frozen=True)
class Exam:
    """What every candidate of a model is put through."""

    subject: Subject
    candidates: tuple[Candidate, ...]
    recording: Recording
    extent: Extent
    built: Path

    def workspace(self, candidate: Candidate) -> Path:
        return self.built / f"{candidate.stage.value}-{candidate.name}"

    def opened(self, candidate: Candidate) -> AnyStage:
        return candidate.open(self.workspace(candidate) if candidate.phases else None, self.subject)

    def opened_by_name(self, names: Mapping[Stage, str]) -> dict[Stage, AnyStage]:
        """Of each stage the candidate of that name."""
        wanted = set(names.items())
        return {c.stage: self.opened(c) for c in self.candidates if (c.stage, c.name) in wanted}

    def entry(self, candidate: Candidate) -> Entry:
        """Probe, build, verify, time; whatever goes wrong is said in the entry."""
        entry: Entry = {
            "stage": candidate.stage.value,
            "name": candidate.name,
            "engine": candidate.engine,
            "precision": candidate.precision.value,
        }
        forget()
        free_before = free_bytes(self.subject.place)
        try:
            usable = candidate.probe(self.subject)
            if isinstance(usable, Unusable):
                return entry | {"unusable": str(usable.reason)}
            entry |= self._built(candidate)
            started = time.perf_counter()
            engine = self.opened(candidate)
            entry["open_seconds"] = time.perf_counter() - started
            entry |= self._verified_and_timed(candidate, engine)
            entry["memory_bytes_with_reference"] = free_before - free_bytes(self.subject.place)
        except Exception as error:  # noqa: BLE001 - the next candidate is tried all the same
            entry["error"] = described(error)
        return entry

    def _built(self, candidate: Candidate) -> Entry:
        if not candidate.phases:
            return {}
        workspace = self.workspace(candidate)
        workspace.mkdir()
        started = time.perf_counter()
        memory_bytes = budget_bytes(self.subject.place)
        candidate.build(Job(self.subject, workspace, self.built / "timing-cache", memory_bytes))
        seconds = time.perf_counter() - started
        return {"build_seconds": seconds, "built_bytes": sum(path.stat().st_size for path in workspace.iterdir())}

    def _verified_and_timed(self, candidate: Candidate, engine: AnyStage) -> Entry:
        trial = TRIALS[candidate.stage](self.recording, self.subject.checkpoint, self.extent)
        verification = trial.verify(engine, candidate.precision)
        complaint = verification.complaint
        entry: Entry = {
            "verification": asdict(verification) | {"complaint": None if complaint is None else str(complaint)}
        }
        reference = references_of(self.candidates)[candidate.stage]
        timing = time_in_turns(trial, engine, engine if candidate is reference else reference.open(None, self.subject))
        entry["timing"] = asdict(timing) | {"speedup": timing.speedup}
        if candidate.stage is Stage.SPEECH_LM:
            entry["tokens_per_second"] = TOKENS_PER_SECOND / timing.seconds_per_audio_second
        return entry


def fastest(entries: Iterable[Entry], *, precisions: Collection[Precision] = tuple(Precision)) -> dict[Stage, str]:
    """Of each stage the name of the fastest that was verified, of those in ``precisions``."""
    best: dict[Stage, Entry] = {}
    for entry in entries:
        if "timing" not in entry or entry["verification"]["complaint"] is not None:
            continue
        if Precision(entry["precision"]) not in precisions:
            continue
        stage, seconds = Stage(entry["stage"]), entry["timing"]["seconds_per_audio_second"]
        if stage not in best or seconds < best[stage]["timing"]["seconds_per_audio_second"]:
            best[stage] = entry
    return {stage: entry["name"] for stage, entry in best.items()}


def reduced_precision(entries: Iterable[Entry], extent: Extent) -> Entry:
    """E9: every flow that is not plain float32 over long lines of many seeds, and whether it was let through."""
    rows = [
        {
            "name": entry["name"],
            "precision": entry["precision"],
            "is_finite": entry["verification"]["is_finite"],
            "relative_mel_error": entry["verification"]["relative_error"],
            "refused": entry["verification"]["complaint"],
        }
        for entry in entries
        if entry["stage"] == Stage.FLOW.value and "verification" in entry
    ]
    return {"seconds": extent.num_tokens / TOKENS_PER_SECOND, "seeds": extent.num_seeds, "flows": rows}


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
