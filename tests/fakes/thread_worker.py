"""A worker in a thread: the same server and pipe, without the start time of a process."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from typing import ClassVar

from fake_model import FakeModel, open_fake

from studio.pipeline.request import EngineOptions
from studio.worker.protocol import Command, Event
from studio.worker.server import Server


class ThreadWorker:
    """Created by ``WorkerClient(..., start_worker=ThreadWorker)``. ``created`` lists all instances."""

    created: ClassVar[list[ThreadWorker]] = []

    def __init__(self, open_model: Callable[[Path, EngineOptions], FakeModel] = open_fake) -> None:
        self.log_path = Path("worker.log")
        self._near, self._far = Pipe(duplex=True)
        self.server = Server(
            self._far, lambda folder, options, _control: open_model(folder, options), collect_garbage=lambda: None
        )
        self._thread = threading.Thread(target=self.server.serve, daemon=True)
        ThreadWorker.created.append(self)

    @property
    def pid(self) -> int | None:
        return os.getpid()

    def start(self) -> None:
        self._thread.start()

    def send(self, message: Command) -> None:
        self._near.send(message)

    def receive(self) -> Event:
        event: Event = self._near.recv()
        return event

    def kill(self) -> None:
        """Shut the pipe down, as the end of a process does. Does nothing after the end of the worker.

        Closing the pipe would not wake a thread that reads from it.
        """
        with contextlib.suppress(OSError):
            pipe = socket.socket(fileno=os.dup(self._near.fileno()))
            pipe.shutdown(socket.SHUT_RDWR)
            pipe.close()

    def wait_exit(self) -> str:
        self._near.close()
        return "the thread ended"
