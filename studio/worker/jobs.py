"""Queue of the requests a worker has received, and the order in which they run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue

from studio.pipeline.control import RequestControl
from studio.worker import protocol

Work = (
    protocol.Load
    | protocol.Unload
    | protocol.PrepareVoice
    | protocol.Synthesize
    | protocol.Convert
    | protocol.ImportStoredVoices
    | protocol.FinishWrites
)


class TextStream:
    """Text that arrives in pieces from another process. Iteration blocks until the next piece or the end."""

    def __init__(self) -> None:
        self._pieces: SimpleQueue[str | None] = SimpleQueue()

    def feed(self, text: str) -> None:
        self._pieces.put(text)

    def end(self) -> None:
        self._pieces.put(None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces.get, None)


@dataclass(eq=False)
class Job:
    """One request, from its command to its last event."""

    command: Work
    control: RequestControl
    text: TextStream = field(default_factory=TextStream)
    started: float = 0.0
    _claim: threading.Lock = field(default_factory=threading.Lock)

    def try_claim(self) -> bool:
        """Return True once: for the thread that runs the job, or for the one that cancels it before that."""
        return self._claim.acquire(blocking=False)

    @property
    def is_in_batch(self) -> bool:
        return isinstance(self.command, protocol.Synthesize) and self.command.in_batch

    @property
    def changes_model(self) -> bool:
        return isinstance(self.command, protocol.Load | protocol.Unload)


class JobQueue:
    """A FIFO queue with two exceptions.

    Up to ``max_concurrent_lines`` jobs of a batch run concurrently, also alongside another request. Interactive
    requests start before waiting jobs of a batch. No job overtakes one that changes the model.
    """

    def __init__(self, max_concurrent_lines: Callable[[], int]) -> None:
        self._max_concurrent_lines = max_concurrent_lines
        self._waiting: list[Job] = []
        self._num_concurrent = 0
        self._has_ended = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def put(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def end(self) -> None:
        """Declare that no further job is put."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def next(self) -> tuple[Job, bool] | None:
        """Wait for a job that may start; return it and whether it runs concurrently, or None after the last.

        ``done`` must follow a concurrent job; any other job ends before the next call. Raises the error of ``fail``.
        """
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                job = self._startable()
                if job is not None:
                    self._waiting.remove(job)
                    runs_concurrently = job.is_in_batch and self._max_concurrent_lines() > 1
                    self._num_concurrent += runs_concurrently
                    return job, runs_concurrently
                if self._has_ended and not self._waiting and not self._num_concurrent:
                    return None
                self._changed.wait()

    def done(self) -> None:
        """Record the end of a concurrent job."""
        with self._changed:
            self._num_concurrent -= 1
            self._changed.notify_all()

    def fail(self, failure: BaseException) -> None:
        """Make ``next`` raise ``failure``, the error of a concurrent job."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def _startable(self) -> Job | None:
        max_concurrent_lines = self._max_concurrent_lines()
        may_start = not self._num_concurrent or max_concurrent_lines > 1
        first_of_batch: Job | None = None
        for job in self._waiting:
            if job.changes_model:
                if first_of_batch is None and not self._num_concurrent:
                    return job
                break
            if not job.is_in_batch:
                return job if may_start else None
            first_of_batch = first_of_batch or job
        return first_of_batch if self._num_concurrent < max(1, max_concurrent_lines) else None
