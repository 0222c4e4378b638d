"""The client's connection to a worker process (``studio/worker/entry.py``), without torch.

The event loop neither reads nor writes the pipe, because a process that is stopped, busy or starting does not empty
it; two threads do.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from studio.messages import Message, message
from studio.system.piped_process import PipedProcess, spawned

if TYPE_CHECKING:  # imports NumPy, which would delay the start of the process
    from studio.worker.protocol import Command, Event

_log = logging.getLogger(__name__)

ENGINE = "studio.worker.model_host:open_accelerated"


class Worker(Protocol):
    """A worker that can be started: a ``WorkerProcess``, or a thread in tests."""

    def start(self) -> None: ...

    def send(self, message: Command) -> None: ...

    def receive(self) -> Event: ...

    def kill(self) -> None: ...

    def wait_exit(self) -> Message: ...

    @property
    def log_path(self) -> Path: ...

    @property
    def pid(self) -> int | None:
        """The id of the process; None before it starts, or if the worker has no separate process."""


class WorkerProcess(PipedProcess):
    """A worker process. ``engine`` names the function that opens a model there, as ``module:function``.

    ``start`` and ``receive`` are called on one thread, ``send`` on another, ``kill`` on any. A process that was started
    is not started again.
    """

    def __init__(self, engine: str = ENGINE) -> None:
        super().__init__(spawned("studio.worker.entry:serve", engine, name="timbre-worker"), log_name="worker")

    def start(self) -> None:
        """Start the process. Raise ``OSError`` if that fails."""
        if self.pid is None:
            super().start()

    def receive(self) -> Event:
        event: Event = super().receive()
        return event


class WorkerConnection:
    """A reading and a writing thread for one worker.

    ``on_event`` is called for each event, and finally ``on_exit`` with the reason for the end, on the reading thread.
    """

    def __init__(
        self, worker: Worker, *, on_event: Callable[[Event], None], on_exit: Callable[[Message], None]
    ) -> None:
        self.worker = worker
        self._on_event = on_event
        self._on_exit = on_exit
        self._commands: SimpleQueue[Command | None] = SimpleQueue()
        self._is_killed = threading.Event()
        threading.Thread(target=self._read, name="worker-events", daemon=True).start()

    def send(self, command: Command) -> None:
        """Queue ``command``; never blocks. Commands to a worker that has ended are dropped."""
        self._commands.put(command)

    def kill(self) -> None:
        self._is_killed.set()
        self.worker.kill()

    def _read(self) -> None:
        try:
            self.worker.start()
        except OSError as error:
            self._on_exit(message("could not be started: {reason}", reason=error))
            return
        if self._is_killed.is_set():  # stopped before the process existed
            self.worker.kill()
        threading.Thread(target=self._write, name="worker-commands", daemon=True).start()
        try:
            while True:
                self._on_event(self.worker.receive())
        except (EOFError, OSError):
            pass
        except Exception:  # noqa: BLE001 - the end of a thread: an unreadable event ends this worker, not the program
            _log.exception("the worker's events cannot be read")
            self.worker.kill()
        finally:
            self._commands.put(None)
            self._on_exit(self.worker.wait_exit())

    def _write(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                self.worker.send(command)
            except OSError:
                return
            except Exception:  # noqa: BLE001 - the end of a thread: no request may wait for a command that was not sent
                _log.exception("%s cannot be sent", type(command).__name__)
                self.worker.kill()
                return
