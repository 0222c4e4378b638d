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

from fake_model import open_fake

from studio.pipeline.request import EngineOptions
from studio.worker.protocol import Command, Event
from studio.worker.server import Model, Server


class ThreadWorker:
    """Made by ``WorkerClient(..., start_worker=ThreadWorker)``; keeps count of how many were made."""

    made: ClassVar[list[ThreadWorker]] = []

    def __init__(self, open_model: Callable[[Path, EngineOptions], Model] = open_fake) -> None:
        self.log_path = Path("worker.log")
        self._near, self._far = Pipe(duplex=True)
        self.server = Server(self._far, open_model)
        self._thread = threading.Thread(target=self.server.serve, daemon=True)
        ThreadWorker.made.append(self)

    def start(self) -> None:
        self._thread.start()

    def send(self, message: Command) -> None:
        self._near.send(message)

    def receive(self) -> Event:
        event: Event = self._near.recv()
        return event

    def kill(self) -> None:
        """Cuts the line, as a death does. (Closing it under a reading thread would not wake that thread.)

        Of one that has ended already, there is nothing to kill: a process may end just before it is killed, too.
        """
        with contextlib.suppress(OSError):
            line = socket.socket(fileno=os.dup(self._near.fileno()))
            line.shutdown(socket.SHUT_RDWR)
            line.close()

    def wait_exit(self) -> str:
        self._near.close()
        return "the thread ended"
