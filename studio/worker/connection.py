"""One life of the worker as the client sees it: a thread that reads, a thread that writes.

Neither reading nor writing ever happens on the event loop, for a process that is stopped, busy or
starting takes nothing from its pipe.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from studio.wording import Message, wording
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
    """``on_event`` and then, exactly once, ``on_end`` are called on the reading thread.

    ``on_end`` receives how the worker ended, in words.
    """

    def __init__(
        self, worker: Worker, *, on_event: Callable[[Event], None], on_exit: Callable[[Message], None]
    ) -> None:
        self.worker = worker
        self._on_event = on_event
        self._on_end = on_exit
        self._commands: SimpleQueue[Command | None] = SimpleQueue()
        self._is_killed = threading.Event()
        threading.Thread(target=self._read, name="worker-events", daemon=True).start()

    def send(self, command: Command) -> None:
        """Never waits. A command for a worker that is gone is dropped: ``on_end`` tells."""
        self._commands.put(command)

    def kill(self) -> None:
        self._is_killed.set()
        self.worker.kill()

    def _read(self) -> None:
        try:
            self.worker.start()
        except OSError as error:
            self._on_end(wording("it could not be started: {reason}", reason=error))
            return
        if self._is_killed.is_set():  # before there was anything to kill
            self.worker.kill()
        threading.Thread(target=self._write, name="worker-commands", daemon=True).start()
        try:
            while True:
                self._on_event(self.worker.receive())
        except (EOFError, OSError):
            pass
        except Exception:  # noqa: BLE001 - the thread's end: an event we cannot read ends this worker, not the program
            _log.exception("the worker's events cannot be read")
            self.worker.kill()
        finally:
            self._commands.put(None)
            self._on_end(self.worker.wait_exit())

    def _write(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                self.worker.send(command)
            except OSError:
                return
            except Exception:  # noqa: BLE001 - the thread's end: nobody may wait for an answer to what was never said
                _log.exception("%s cannot be sent", type(command).__name__)
                self.worker.kill()
                return
