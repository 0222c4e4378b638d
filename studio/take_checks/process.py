"""The process that checks takes, usually with low priority, and without network access.

It is separate from the worker: a recogniser that crashes or exhausts the memory does not stop the synthesis. Its parent
imports neither torch nor ONNX Runtime.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from studio.engines.library_errors import is_out_of_memory
from studio.errors import ErrorRecord, InternalError, OutOfMemory, StudioError
from studio.messages import message
from studio.system.low_priority import lower_priority
from studio.system.piped_process import PipedProcess, function_named, spawned
from studio.take_checks.records import Embeddings, TakeCheck, Transcript
from studio.take_checks.requests import CheckRequest, EmbeddingRequest, TranscriptRequest

_log = logging.getLogger(__name__)

ENGINE = "studio.take_checks.engine:open_engine"

_ABANDONED_GRACE_SECONDS = 3.0

Command = CheckRequest | EmbeddingRequest | TranscriptRequest


@dataclass(frozen=True, slots=True)
class CheckFailed:
    """Reply to a request that ended with an error."""

    error: ErrorRecord


Reply = TakeCheck | Embeddings | Transcript | CheckFailed


class TakeCheckProcess(PipedProcess):
    """A process for checks. ``engine`` names the function that makes its ``TakeCheckEngine``, as ``module:function``.

    With ``is_awaited``, it has the usual priority, because someone waits for its results.
    """

    def __init__(self, engine: str = ENGINE, *, is_awaited: bool = False) -> None:
        child = spawned("studio.take_checks.process:serve", engine, is_awaited, name="timbre-checks")
        super().__init__(child, log_name="checks")

    def receive(self) -> Reply:
        reply: Reply = super().receive()
        return reply


# From here on: code of the child process.


def serve(connection: Connection, engine_name: str, is_awaited: bool = False) -> None:
    if not is_awaited:
        lower_priority()
    _refuse_network()
    engine: Any = None  # a ``TakeCheckEngine``, whose libraries the parent does not import
    commands = _Commands(connection)
    reply: Reply
    while (command := commands.next()) is not None:
        try:
            engine = engine or function_named(engine_name)()
            reply = _answered(engine, command)
        except Exception as error:  # noqa: BLE001 - process boundary: every error is reported to the parent
            _log.exception("the check failed")
            reply = CheckFailed(as_studio_error(error).to_record())
        try:
            connection.send(reply)
        except OSError:  # the parent has ended
            break


def _answered(engine: Any, command: Command) -> Reply:
    match command:
        case CheckRequest():
            return engine.check(command)  # type: ignore[no-any-return]
        case EmbeddingRequest():
            return engine.embed(command)  # type: ignore[no-any-return]
        case TranscriptRequest():
            return engine.transcribe(command)  # type: ignore[no-any-return]


class _Commands:
    """Reads the pipe on its own thread, so that the end of the parent is noticed during a long check."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._next: Command | None = None
        self._has_next, self._is_taken = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def next(self) -> Command | None:
        """Wait for the next command, or return None if the parent has closed the pipe."""
        self._has_next.acquire()
        command = self._next
        self._is_taken.release()
        return command

    def _read(self) -> None:
        while True:
            try:
                self._next = self._connection.recv()
            except (EOFError, OSError):
                timer = threading.Timer(_ABANDONED_GRACE_SECONDS, os._exit, args=(1,))
                timer.daemon = True
                timer.start()
                self._next = None
            self._has_next.release()
            self._is_taken.acquire()


def as_studio_error(error: BaseException) -> StudioError:
    """Return ``error`` as an error with a code."""
    if isinstance(error, StudioError):
        return error
    if is_out_of_memory(error):
        return OutOfMemory(
            "There is not enough memory to check the take.",
            remedy="Close other programs, or choose a smaller recogniser.",
        )
    return InternalError(
        "An internal error occurred ({kind}: {reason}).",
        remedy="Try again. If it happens again, report it with the log.",
        kind=type(error).__name__,
        reason=message("{text}", text=error),
    )


def _refuse_network() -> None:
    """Make libraries that try to connect to a host fail. Recordings never leave the computer."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError("the process that checks takes has no network access")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse
