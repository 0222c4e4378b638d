"""A child process with a JSON-lines protocol that may crash, hang or time out. Does not import torch."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

_LAST_WORDS = 400
_ENDING_SECONDS = 20.0

Entry = dict[str, Any]

# A new process group, which is ended as a whole, in the session of the parent.
_GROUP: Any = {} if sys.platform == "win32" else {"process_group": 0}


class ProcessLost(Exception):
    """The process ended or was killed after a timeout; the message contains its last output."""


class JsonProcess:
    """A context manager that ends the process and its children. Standard error goes to ``log``."""

    def __init__(
        self, command: Sequence[str], *, log: Path, most_seconds: float, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the process and wait for its first line, ``greeting``. Raise ``ProcessLost``."""
        self._log = log
        with log.open("a", encoding="utf-8") as errors:
            self._log_start = errors.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
                **_GROUP,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.greeting = next(self._heard(most_seconds))
        except ProcessLost:
            self.kill()
            raise

    def ask(self, order: Entry, *, most_seconds: float) -> Iterator[Entry]:
        """Yield intermediate results (``so_far``) and finally the result. Raise ``ProcessLost``."""
        with contextlib.suppress(OSError):  # the missing answer shows that the process has ended
            pipe = _there(self._process.stdin)
            pipe.write(json.dumps(order) + "\n")
            pipe.flush()
        for answer in self._heard(most_seconds):
            if "so_far" not in answer:
                yield answer
                return
            yield answer["so_far"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._say_no_more()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its children."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._say_no_more()

    def _say_no_more(self) -> None:
        with contextlib.suppress(OSError):
            _there(self._process.stdin).close()

    def _heard(self, most_seconds: float) -> Iterator[Entry]:
        end = time.monotonic() + most_seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise ProcessLost(f"ended after {most_seconds:.0f} s: {self._last_words()}") from None
            if line is None:
                status = self._process.wait()
                self.kill()  # its children
                raise ProcessLost(f"died with {status}: {self._last_words()}")
            answer: Entry = json.loads(line)
            yield answer

    def _read(self) -> None:
        pipe = _there(self._process.stdout)
        with pipe:
            for line in pipe:
                self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")[-_LAST_WORDS:].strip()


def _there(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
