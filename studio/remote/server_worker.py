"""What the workers on other computers have in common: an event loop in a thread, on which requests run as tasks."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx2

from studio import paths
from studio.errors import InternalError, StudioError
from studio.messages import Message, message
from studio.remote.address import ServerAddress
from studio.remote.connection import Connection
from studio.text.arriving import ArrivingText
from studio.worker import protocol
from studio.worker.protocol import Command, Event

_log = logging.getLogger(__name__)


class ServerWorker(ABC):
    """The model of ``server`` as a ``Worker``. Subclasses know how to talk to one kind of server."""

    def __init__(self, server: ServerAddress) -> None:
        self._server = server
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="remote-worker", daemon=True)
        self._connection: Connection | None = None
        self._tasks: dict[int, asyncio.Task[Event]] = {}
        self._texts: dict[int, ArrivingText] = {}  # of requests whose text arrives

    @abstractmethod
    async def _answer(self, command: protocol.RequestCommand) -> Event:
        """Return the event that ends ``command``. Raise ``StudioError``."""

    # A ``Worker``.

    @property
    def log_path(self) -> Path:
        return paths.log_folder()

    @property
    def pid(self) -> int | None:
        return None

    def start(self) -> None:
        self._thread.start()

    def send(self, message: Command) -> None:
        self._on_loop(lambda: self._begin(message))

    def receive(self) -> Event:
        """Wait for an event. Raise ``EOFError`` after the end."""
        event = self._events.get()
        if event is None:
            raise EOFError
        return event

    def kill(self) -> None:
        self._on_loop(self._loop.stop)

    def wait_exit(self) -> Message:
        self._thread.join()
        return message("the connection was closed")

    # On the loop.

    def _on_loop(self, call: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError as error:  # the loop is closed
            raise BrokenPipeError from error

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._close())
        finally:
            self._events.put(None)
            self._loop.close()

    async def _close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._disconnect()

    def _begin(self, command: Command) -> None:
        match command:
            case protocol.Shutdown():
                self._loop.stop()
            case protocol.Cancel(request_id):
                if task := self._tasks.get(request_id):
                    task.cancel()
            case protocol.AddText(request_id, fragment):
                if text := self._texts.get(request_id):
                    text.add(fragment)
            # The other computer chooses its engines.
            case protocol.WatchEngines():
                pass
            case protocol.EngineCommand(request_id):
                self._events.put(protocol.EnginesManaged(request_id, 0))
            case protocol.FinishWrites(request_id):
                self._events.put(protocol.WritesFinished(request_id))
            case _:
                self._start(command)

    def _start(self, command: protocol.RequestCommand) -> None:
        if isinstance(command, protocol.Synthesize) and command.text_arrives:
            self._texts[command.request_id] = ArrivingText()
        task = self._tasks[command.request_id] = self._loop.create_task(self._answer(command))
        task.add_done_callback(partial(self._end, command.request_id))

    def _end(self, request_id: int, task: asyncio.Task[Event]) -> None:
        """Send the last event of a request, also of one that was cancelled before its task began to run."""
        del self._tasks[request_id]
        self._texts.pop(request_id, None)
        if task.cancelled():
            self._events.put(protocol.Cancelled(request_id))
            return
        error = task.exception()
        if error is None:
            self._events.put(task.result())
            return
        if not isinstance(error, StudioError):
            _log.error("a request to another computer failed", exc_info=error)
            error = InternalError("Unexpected error: {reason}.", remedy="Try again.", reason=error)
        self._events.put(protocol.Failed(request_id, error.to_record()))

    # HTTP.

    def _connect(self) -> Connection:
        if self._connection is None:
            self._connection = Connection(self._server, self._server.token())
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self, method: str, path: str, **content: Any) -> Any:
        """Return the JSON answer to a request that may be repeated. Raise ``StudioError``."""
        connection = self._connect()
        try:
            try:
                return await connection.json(method, path, **content)
            except (httpx2.ReadError, httpx2.RemoteProtocolError):  # closed while it was idle
                return await connection.json(method, path, **content)
        except httpx2.TransportError as error:
            raise connection.unreachable(error) from error
