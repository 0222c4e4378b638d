"""Fake candidates of one stage for tests of the manager: correct, wrong, slow, crashing, hanging, out of memory.

Each list begins with the plain candidate, with which the others are compared. ``registry`` loads the lists as
``engine_fakes:NAME``.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studio.engines.candidate import Available, BuildJob, EngineTarget, Unusable
from studio.engines.stage import Stage
from studio.engines.task import Report, Step, TrialTask
from studio.engines.trial_run import run_trial
from studio.errors import OutOfMemory, UnsupportedPrecision
from studio.messages import message
from studio.model.config import Precision
from studio.model.stages import FloatArray

PLAN = b"plan" * 1500
Embed = Callable[[FloatArray], FloatArray]


def plain(fbank: FloatArray) -> FloatArray:
    time.sleep(0.010)
    return exact(fbank)


def exact(fbank: FloatArray) -> FloatArray:
    embedding: FloatArray = np.resize(fbank.mean(axis=0), 192).astype(np.float32)
    return embedding


def quick(fbank: FloatArray) -> FloatArray:
    time.sleep(0.001)
    return exact(fbank)


def unhurried(fbank: FloatArray) -> FloatArray:
    time.sleep(0.005)
    return exact(fbank)


def slow(fbank: FloatArray) -> FloatArray:
    time.sleep(0.030)
    return exact(fbank)


def wrong(fbank: FloatArray) -> FloatArray:
    return 1.1 * exact(fbank)


def overflowing(fbank: FloatArray) -> FloatArray:
    return np.full(192, np.nan, np.float32)


def crashing(fbank: FloatArray) -> FloatArray:
    os.kill(os.getpid(), signal.SIGKILL)
    return exact(fbank)


def greedy(fbank: FloatArray) -> FloatArray:
    raise MemoryError


class Encoder:
    def __init__(self, embed: Embed) -> None:
        self.embed = embed


@dataclass(frozen=True)
class Fake:
    name: str
    embed: Embed = quick
    probed: Available | Unusable = Available(1)
    version: str = "1"
    stage: Stage = Stage.SPEAKER_ENCODER
    engine: str = "fake"
    precision: Precision = Precision.FLOAT32
    code_version: int = 1
    phases: tuple[str, ...] = ()
    build_timeout_seconds: float = 60.0

    def probe(self, target: EngineTarget) -> Available | Unusable:
        return self.probed

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        return {"library": self.version}

    def build(self, job: BuildJob) -> None:
        raise AssertionError("this candidate is not built")

    def open(self, files: Path | None, target: EngineTarget) -> Encoder:
        return Encoder(self.embed)


@dataclass(frozen=True)
class Built(Fake):
    """Writes a file, which ``open`` expects to be unchanged."""

    phases: tuple[str, ...] = ("preparing", "writing")
    num_steps: int = 3
    step_seconds: float = 0.0

    def build(self, job: BuildJob) -> None:
        job.report("preparing", 0, 1)
        with (job.workspace / "plan.bin").open("wb") as file:
            for step in range(self.num_steps):
                job.report("writing", step, self.num_steps)
                file.write(PLAN[: len(PLAN) // 2])
                time.sleep(self.step_seconds)
        (job.workspace / "plan.bin").write_bytes(PLAN)
        job.report("writing", self.num_steps, self.num_steps)

    def open(self, files: Path | None, target: EngineTarget) -> Encoder:
        assert files is not None
        assert (files / "plan.bin").read_bytes() == PLAN, "the manager verifies files before it opens them"
        return Encoder(self.embed)


class Hanging(Built):
    def build(self, job: BuildJob) -> None:
        job.report("preparing", 0, 1)
        time.sleep(600)


class Deaf(Built):
    """Ignores cancellation, as some libraries do."""

    def build(self, job: BuildJob) -> None:
        job.report("preparing", 0, 1)
        while True:
            time.sleep(0.05)


class Failing(Built):
    def build(self, job: BuildJob) -> None:
        raise UnsupportedPrecision("The plan cannot be built.", remedy="Use another engine.")


class OnFullDisk(Built):
    def build(self, job: BuildJob) -> None:
        job.report("preparing", 0, 1)
        raise OSError(28, "No space left on device")


class TooLarge(Fake):
    """Passes its trial, but does not fit the memory of the worker."""

    def open(self, files: Path | None, target: EngineTarget) -> Encoder:
        if threading.current_thread().name != "trial":
            raise OutOfMemory("There is not enough memory.")
        return Encoder(self.embed)


_PLAIN = Fake("plain", plain)
RIGHT = (_PLAIN, Fake("quick"), Fake("slow", slow))
ONE_BUILT = (_PLAIN, Built("built"))
OF_A_NEWER_LIBRARY = (_PLAIN, Built("built", version="2"))
BAD = (
    _PLAIN,
    Fake("wrong", wrong),
    Fake("overflowing", overflowing),
    Fake("greedy", greedy),
    Failing("failing"),
    OnFullDisk("disk"),
    Fake("absent", probed=Unusable(message("the library is not installed"))),
    Fake("vast", probed=Available(1 << 60)),
)
# Each fits into 3 GB of memory, but not both.
LARGE = (Fake("plain", plain, Available(2 << 30)), Fake("quick", probed=Available(2 << 30)))
TARDY = (_PLAIN, Fake("quick", probed=Available(1, opens_slowly=True)))
CRASHING = (_PLAIN, Fake("crashing", crashing))
HANGING = (_PLAIN, Hanging("hanging", build_timeout_seconds=1.0))
DEAF = (_PLAIN, Deaf("deaf"))
UNHURRIED = (_PLAIN, Built("built", num_steps=400, step_seconds=0.05))
TOO_LARGE = (_PLAIN, TooLarge("large", exact), Fake("slower", unhurried))


class ThreadTrial:
    """A trial in a thread instead of a process, which starts quickly. ``tasks`` lists the tasks of all trials."""

    tasks: list[TrialTask] = []  # noqa: RUF012 - shared by all instances on purpose

    def __init__(self, task: TrialTask, *, build_timeout_seconds: float) -> None:
        self.task = task
        self.sent: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self.is_cancelled = False
        self.may_run = threading.Event()
        self.may_run.set()
        ThreadTrial.tasks.append(task)

    def reports(self) -> Iterator[Report]:
        threading.Thread(target=lambda: self.send(run_trial(self.task, self)), name="trial", daemon=True).start()  # type: ignore[arg-type]
        while isinstance(report := self.sent.get(timeout=30), Step):
            yield report
        yield report

    def pause(self) -> None:
        self.may_run.clear()

    def resume(self) -> None:
        self.may_run.set()

    def cancel(self) -> None:
        self.is_cancelled = True
        self.may_run.set()

    def kill(self) -> None:
        self.cancel()

    # The methods of ``TrialControl``.

    def send(self, report: Report) -> None:
        self.sent.put(report)

    def should_continue(self) -> bool:
        self.may_run.wait()
        return not self.is_cancelled
