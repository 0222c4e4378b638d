"""Threads for lines that are worked on beside each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

_Work = Callable[[], None]


class WorkerThreadPool:
    """A thread whose work has ended waits for more, and a new one begins only where none waits.

    Not a new one for each line: torch keeps memory on a card for every thread that has multiplied there, and for
    each of its streams.
    """

    def __init__(self) -> None:
        self._begun: SimpleQueue[tuple[_Work, _Work] | None] = SimpleQueue()
        self._num_threads = 0
        self._num_idle = 0
        self._lock = threading.Lock()

    def begin(self, work: _Work, then: _Work) -> None:
        """``then`` is called on the same thread when that is ready for more. Neither may raise."""
        with self._lock:
            if self._num_idle:
                self._num_idle -= 1
            else:
                self._num_threads += 1
                threading.Thread(target=self._run, name="line", daemon=True).start()
        self._begun.put((work, then))

    def end(self) -> None:
        """Nothing more comes; whoever is at work ends after that."""
        for _ in range(self._num_threads):
            self._begun.put(None)

    def _run(self) -> None:
        while (begun := self._begun.get()) is not None:
            work, then = begun
            work()
            with self._lock:
                self._num_idle += 1
            then()
            del begun, work, then  # and all that belongs to the line: the next one may be long in coming
