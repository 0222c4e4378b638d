"""Progress messages of the set-up, on standard error: standard output is for the program."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


class Progress:
    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Print ``title``, and the elapsed time at the end of the block."""
        self.note(f"{title} …")
        start_seconds = self._clock()
        yield
        self.note(f"  done in {self._clock() - start_seconds:.0f} s")

    def note(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()
