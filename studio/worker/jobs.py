"""The requests a worker has taken and not answered yet, and which of them is worked on next."""

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
    """Text on its way from another process: pieces in order, until it has ended."""

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
        """True for the first who asks: either it is worked on, or it is cancelled before that."""
        return self._claim.acquire(blocking=False)

    @property
    def is_in_batch(self) -> bool:
        return isinstance(self.command, protocol.Synthesize) and self.command.in_batch

    @property
    def changes_model(self) -> bool:
        return isinstance(self.command, protocol.Load | protocol.Unload)


class JobQueue:
    """Requests in the order they came, but for two rules.

    Those of a batch may be worked on beside each other and beside another request, ``max_concurrent_lines`` of them; and they
    wait for whatever is not of a batch: somebody wants to hear that now. Nothing passes what changes the model.
    """

    def __init__(self, max_concurrent_lines: Callable[[], int]) -> None:
        self._lines_at_once = max_concurrent_lines
        self._waiting: list[Job] = []
        self._num_beside = 0
        self._has_ended = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def put(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def next(self) -> tuple[Job, bool] | None:
        """Waits for a job that may begin, and whether it is to be worked on beside others; None when all is over.

        One that is worked on beside others ends with ``done``; the others before the next one is asked for.
        Raises what was handed to ``fail``.
        """
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                job = self._startable()
                if job is not None:
                    self._waiting.remove(job)
                    runs_concurrently = job.is_in_batch and self._lines_at_once() > 1
                    self._num_beside += runs_concurrently
                    return job, runs_concurrently
                if self._has_ended and not self._waiting and not self._num_beside:
                    return None
                self._changed.wait()

    def done(self) -> None:
        """A job that was worked on beside others has ended."""
        with self._changed:
            self._num_beside -= 1
            self._changed.notify_all()

    def fail(self, failure: BaseException) -> None:
        """Work beside others has ended as no work may: whoever waits for the next job hears of it."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def _startable(self) -> Job | None:
        max_concurrent_lines = self._lines_at_once()
        may_begin = not self._num_beside or max_concurrent_lines > 1
        first_of_batch: Job | None = None
        for job in self._waiting:
            if job.changes_model:
                if first_of_batch is None and not self._num_beside:
                    return job
                break
            if not job.is_in_batch:
                return job if may_begin else None
            first_of_batch = first_of_batch or job
        return first_of_batch if self._num_beside < max(1, max_concurrent_lines) else None
