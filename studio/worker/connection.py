"""The client's connection to one worker process: a reading and a writing thread.

Nothing is read or written on the event loop: a process that is stopped, busy or starting does not empty its pipe.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from studio.messages import Message, wording
from studio.worker.protocol import Command, Event

_log = logging.getLogger(__name__)


class Worker(Protocol):
    """A worker that can be started; ``process.WorkerProcess`` is the real one."""

    def start(self) -> None: ...

    def send(self, message: Command) -> None: ...

    def receive(self) -> Event: ...

    def kill(self) -> None: ...

    def wait_exit(self) -> Message: ...

    @property
    def log_path(self) -> Path: ...


class WorkerConnection:
    """Calls ``on_event`` and finally, exactly once, ``on_exit`` (how the worker ended) on the reading thread."""

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
            self._on_exit(wording("could not be started: {reason}", reason=error))
            return
        if self._is_killed.is_set():  # before the process existed
            self.worker.kill()
        threading.Thread(target=self._write, name="worker-commands", daemon=True).start()
        try:
            while True:
                self._on_event(self.worker.receive())
        except (EOFError, OSError):
            pass
        except Exception:  # noqa: BLE001 - the thread's end: an unreadable event ends this worker, not the program
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
            except Exception:  # noqa: BLE001 - the thread's end: no request may wait for a command that was not sent
                _log.exception("%s cannot be sent", type(command).__name__)
                self.worker.kill()
                return
