"""Threads for lines that run concurrently."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

_Work = Callable[[], None]


class WorkerThreadPool:
    """Reuses idle threads and starts a new one only if none is idle.

    Reason: torch keeps GPU memory for every thread that has multiplied there, and for each of its streams.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[_Work, _Work] | None] = SimpleQueue()
        self._num_threads = 0
        self._num_idle = 0
        self._lock = threading.Lock()

    def begin(self, work: _Work, then: _Work) -> None:
        """Run ``work`` on a thread, then ``then`` on the same thread when it is idle again. Neither may raise."""
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
