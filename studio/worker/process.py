"""Starts the worker, and ends it. Beyond this file lies everything that needs torch.

Decided: a spawned process of ``multiprocessing`` with a private pipe, because it works alike on Linux,
macOS and Windows. Instead of: a fork (CUDA and threads do not survive it), a local port (anyone could
connect). It is not daemonic, for it may have children of its own; that it never outlives us is seen to
three times: it ends when its pipe does, our interpreter's exit ends it, and ``kill`` always works.
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
from multiprocessing.connection import Connection, wait
from pathlib import Path

from studio.system.child_process import describe_exit, init_child, new_log_path
from studio.wording import Message
from studio.worker.protocol import Command, Event

ENGINE = "studio.worker.model_host:open_accelerated"

_ABANDONED_GRACE_SECONDS = 3.0
_EXIT_GRACE_SECONDS = 1.0
# The pipe tells of a death at once, unless a child of the worker still holds its end.
_LOOK_SECONDS = 1.0

_alive: set[WorkerProcess] = set()


class WorkerProcess:
    """One life of the worker. ``engine`` names what opens a model there, as ``module:function``.

    ``start`` and ``receive`` belong to one thread; ``send`` to another; ``kill`` to anyone.
    """

    def __init__(self, engine: str = ENGINE) -> None:
        context = multiprocessing.get_context("spawn")
        self.log_path = new_log_path("worker")
        self._connection, self._far_end = context.Pipe(duplex=True)
        self._process = context.Process(
            target=_serve, args=(self._far_end, engine, self.log_path), name="timbre-worker", daemon=False
        )

    def start(self) -> None:
        """Raises ``OSError`` where no process can be made."""
        try:
            self._process.start()
        finally:
            self._far_end.close()
        _alive.add(self)

    def send(self, message: Command) -> None:
        """Raises ``OSError`` once the process is gone."""
        self._connection.send(message)

    def receive(self) -> Event:
        """The next message, waited for. Raises ``EOFError`` or ``OSError`` once the process is gone."""
        while not wait([self._connection, self._process.sentinel], _LOOK_SECONDS):
            if self._process.exitcode is not None:
                break
        if not self._connection.poll():
            raise EOFError
        event: Event = self._connection.recv()
        return event

    def kill(self) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):  # never started, or gone
            self._process.kill()

    def wait_exit(self) -> Message:
        """Waits for the end (``receive`` has seen it coming) and tells how it was, for a person."""
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
    """Before multiprocessing waits for its processes: ours would go on waiting for commands."""
    for process in list(_alive):
        process.kill()


# From here on: in the worker.


def _serve(connection: Connection, engine: str, log_path: Path) -> None:
    init_child(log_path)
    # By name, so that nothing before this line, nor any importer of this file, can reach torch.
    server = importlib.import_module("studio.worker.server")
    open_model = _engine_by_name(engine)
    server.Server(connection, open_model, when_abandoned=_end_soon).serve()
    # The model is closed; what is left (libraries taking themselves apart) takes a second and frees nothing more.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)


def _engine_by_name(name: str) -> Callable[..., object]:
    """Imported only when a model is opened: a broken installation is then an answer, not a death."""
    module_name, function_name = name.split(":")

    def open_model(*arguments: object) -> object:
        function: Callable[..., object] = getattr(importlib.import_module(module_name), function_name)
        return function(*arguments)

    return open_model


def _end_soon() -> None:
    """The program is gone: whatever is being worked on, this process follows."""
    timer = threading.Timer(_ABANDONED_GRACE_SECONDS, os._exit, args=(1,))
    timer.daemon = True
    timer.start()
