"""Queue of the requests that a worker has received, the order in which they run, and threads for concurrent ones."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from studio.pipeline.control import RequestControl
from studio.text.arriving import ArrivingText
from studio.worker import protocol

_Task = Callable[[], None]


@dataclass(eq=False)
class Job:
    """One request, from its command to its last event."""

    command: protocol.QueuedCommand
    control: RequestControl
    started: float = 0.0
    text: ArrivingText | None = None  # the sentence of a synthesis whose text arrives
    _claim: threading.Lock = field(default_factory=threading.Lock)

    def try_claim(self) -> bool:
        """Return True for the first caller: the thread that runs the job, or the one that cancels it before that."""
        return self._claim.acquire(blocking=False)

    @property
    def is_in_batch(self) -> bool:
        return isinstance(self.command, protocol.Synthesize) and self.command.in_batch

    @property
    def changes_model(self) -> bool:
        return isinstance(self.command, protocol.Load)


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
        """Make ``next`` return None after the last waiting job."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def next(self) -> tuple[Job, bool] | None:
        """Wait for a job that may start; return it and whether it runs concurrently, or None after the last job.

        Call ``done`` at the end of a concurrent job; any other job must end before the next call. Raise the error
        that was passed to ``fail``.
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


class WorkerThreadPool:
    """Threads for concurrent lines. A new one is started only if none is idle.

    Reason: torch keeps GPU memory for every thread that has multiplied matrices, and for each stream of the thread.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[_Task, _Task] | None] = SimpleQueue()
        self._num_threads = 0
        self._num_idle = 0
        self._lock = threading.Lock()

    def begin(self, work: _Task, then: _Task) -> None:
        """Run ``work`` on a thread, then ``then`` when that thread counts as idle again. Neither may raise."""
        with self._lock:
            if self._num_idle:
                self._num_idle -= 1
            else:
                self._num_threads += 1
                threading.Thread(target=self._run, name="line", daemon=True).start()
        self._tasks.put((work, then))

    def end(self) -> None:
        """End all threads after their current work."""
        for _ in range(self._num_threads):
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            work, then = task
            work()
            with self._lock:
                self._num_idle += 1
            then()
            del task, work, then  # releases the line's memory while the thread waits
