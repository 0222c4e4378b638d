"""A child process with a private pipe to its parent.

Decision: a spawned ``multiprocessing`` process with a private pipe. Reason: it works the same way on Linux, macOS
and Windows. Alternatives: a fork (CUDA and threads do not survive it), a local port (any program can connect to it).
The process is not daemonic because it may have child processes. It never outlives the program: it ends when its pipe
closes, when this interpreter exits, and on ``kill``.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from studio.messages import Message
from studio.system.child_process import describe_exit, new_log_path

_EXIT_GRACE_SECONDS = 1.0
# The pipe signals the end of the process at once, unless a child process keeps it open.
_POLL_SECONDS = 1.0

_alive: set[PipedProcess] = set()


class PipedProcess:
    """A process that runs ``serve(connection, log_path, *arguments)``.

    ``start`` and ``receive`` are called on one thread, ``send`` on the same or another, ``kill`` on any.
    """

    def __init__(self, serve: Callable[..., None], arguments: tuple[object, ...], *, name: str, log_name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.log_path = new_log_path(log_name)
        self._connection, self._far_end = context.Pipe(duplex=True)
        self._process = context.Process(
            target=serve, args=(self._far_end, self.log_path, *arguments), name=name, daemon=False
        )

    def start(self) -> None:
        """Start the process. Raise ``OSError`` if that fails."""
        try:
            self._process.start()
        finally:
            self._far_end.close()
        _alive.add(self)

    def send(self, message: object) -> None:
        """Send ``message``. Raise ``OSError`` after the process has ended."""
        self._connection.send(message)

    def receive(self) -> Any:
        """Wait for the next message. Raise ``EOFError`` or ``OSError`` after the process has ended."""
        while not self.has_message(_POLL_SECONDS):
            pass
        return self._connection.recv()

    def has_message(self, timeout_seconds: float) -> bool:
        """Wait for a message, and return whether it has arrived. Raise ``EOFError`` after the process has ended."""
        if not wait([self._connection, self._process.sentinel], timeout_seconds) and self._process.exitcode is None:
            return False
        if not self._connection.poll():
            raise EOFError
        return True

    def kill(self) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):  # not started, or ended
            self._process.kill()

    def wait_exit(self) -> Message:
        """Wait for the end of the process, after ``receive`` has raised, and describe it for the user."""
        self._process.join(_EXIT_GRACE_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        _alive.discard(self)
        self._connection.close()
        return describe_exit(self._process.exitcode or 0)

    @property
    def pid(self) -> int | None:
        return self._process.pid


@atexit.register
def _end_all() -> None:
    """Kill all processes before ``multiprocessing`` joins them, because they wait for messages forever."""
    for process in list(_alive):
        process.kill()
