"""A child process with a private pipe to its parent.

Decision: a spawned ``multiprocessing`` process with a private pipe. Reason: it works the same way on Linux, macOS
and Windows. Alternatives: a fork (CUDA and threads do not survive it), a local port (any program can connect to it).
The process is not daemonic because it may have child processes. It never outlives the program: it ends when its pipe
closes, when this interpreter exits, and on ``kill``.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from studio.messages import Message
from studio.system.child_process import describe_exit, init_child, new_log_path

_EXIT_GRACE_SECONDS = 1.0
# The pipe signals the end of the process at once, unless a child process keeps it open.
_POLL_SECONDS = 1.0

_alive: set[PipedProcess] = set()


class Child(Protocol):
    """The part of ``multiprocessing.Process`` in use."""

    @property
    def pid(self) -> int | None: ...

    @property
    def exitcode(self) -> int | None: ...

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def join(self, timeout: float | None = None) -> None: ...


# Makes a process for the far end of a pipe and the path of a log.
MakeChild = Callable[[Connection, Path], Child]


def spawned(serve: str, *arguments: object, name: str) -> MakeChild:
    """Return a function that makes a process in which ``serve(connection, *arguments)`` runs.

    ``serve`` is named as ``module:function``, so that the parent need not import the module.
    """

    def make(far_end: Connection, log_path: Path) -> Child:
        return multiprocessing.get_context("spawn").Process(
            target=_run, args=(far_end, log_path, serve, arguments), name=name, daemon=False
        )

    return make


def _run(connection: Connection, log_path: Path, serve: str, arguments: tuple[object, ...]) -> None:
    init_child(log_path)
    function_named(serve)(connection, *arguments)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # unloading the libraries takes time, frees nothing more, and may crash


def function_named(name: str) -> Callable[..., Any]:
    """Import and return a function that is named as ``module:function``."""
    module_name, function_name = name.split(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module_name), function_name)
    return function


class PipedProcess:
    """``receive`` and ``has_message`` are called on one thread, the other methods on any."""

    def __init__(self, make_child: MakeChild, *, log_name: str) -> None:
        self.log_path = new_log_path(log_name)
        self._connection, self._far_end = multiprocessing.Pipe(duplex=True)
        self._sending, self._receiving = threading.Lock(), threading.Lock()
        self._process = make_child(self._far_end, self.log_path)

    def start(self) -> None:
        """Start the process. Raise ``OSError`` if that fails."""
        try:
            self._process.start()
        finally:
            self._far_end.close()
        _alive.add(self)

    def send(self, message: object) -> None:
        """Send ``message``. Raise ``OSError`` after the process has ended."""
        with self._sending:
            self._connection.send(message)

    def receive(self) -> Any:
        """Wait for the next message. Raise ``EOFError`` or ``OSError`` after the process has ended."""
        while not self.has_message(_POLL_SECONDS):
            pass
        with self._receiving:
            return self._connection.recv()

    def has_message(self, timeout_seconds: float) -> bool:
        """Wait for a message or the end of the process, and return whether ``receive`` returns or raises at once.

        Raise ``EOFError`` or ``OSError`` after the process has ended.
        """
        with self._receiving:
            if self._connection.poll(timeout_seconds):
                return True
            if self._process.exitcode is None:
                return False
            if not self._connection.poll():
                raise EOFError
            return True

    def kill(self) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):  # not started, or ended
            self._process.kill()

    def wait_exit(self, grace_seconds: float = _EXIT_GRACE_SECONDS) -> Message:
        """Wait for the end of the process, kill it after ``grace_seconds``, and describe its end for the user."""
        self._process.join(grace_seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        _alive.discard(self)
        with self._sending, self._receiving:  # the descriptor of a closed connection may belong to another file
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
