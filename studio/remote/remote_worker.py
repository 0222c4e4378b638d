"""A worker on another computer: the commands of ``WorkerClient`` as requests to its `timbre serve`.

Requests run on an event loop in a thread. If the connection is lost during a line, the line is requested again with its
seed, and the samples that have been received are skipped. If that fails too, the line fails, but not the worker: the
next line tries to connect again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from studio import paths
from studio.errors import (
    InternalError,
    NotOnServer,
    StudioError,
    TooManyRequests,
    UnknownVoice,
    UnreadableClip,
    from_record,
)
from studio.messages import Message, wording
from studio.pipeline.request import NetworkFigures, SynthesisReport, VoiceReference
from studio.remote import wire
from studio.remote.address import ServerAddress, descriptions_folder
from studio.remote.arriving_text import ArrivingText
from studio.remote.line_attempts import LineAttempts, StreamBroken, line_lost
from studio.remote.model_description import keep_description
from studio.remote.network_delays import NetworkDelays
from studio.remote.voice_files import VoiceHashes
from studio.worker import protocol
from studio.worker.protocol import Command, Event

if TYPE_CHECKING:
    import httpx2

    from studio.remote.connection import Connection

_log = logging.getLogger(__name__)

_LOAD_SECONDS = 900.0
_MAX_UPLOADS = 3  # a server with several processes may need the voice more than once
Answer = AbstractAsyncContextManager["httpx2.Response"]


class RemoteWorker:
    """The speech service of ``server`` as a ``Worker``. The model's description is kept below ``folder``."""

    def __init__(self, server: ServerAddress, folder: Path | None = None) -> None:
        self._server = server
        self._folder = folder or descriptions_folder(server.url)
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="remote-worker", daemon=True)
        self._connection: Connection | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._hashes = VoiceHashes()
        self._arriving: dict[int, ArrivingText] = {}

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
        self._on_loop(self._stop)

    def wait_exit(self) -> Message:
        self._thread.join()
        return wording("the connection was closed")

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

    def _stop(self) -> None:
        self._loop.stop()

    async def _close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._disconnect()

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _begin(self, command: Command) -> None:
        match command:
            case protocol.Shutdown():
                self._stop()
            case protocol.Cancel(request_id):
                if task := self._tasks.get(request_id):
                    task.cancel()
            case protocol.Synthesize(request_id, text_arrives=True):
                text = self._arriving[request_id] = ArrivingText()
                self._start(command, lambda: text.speak(command, self._answer))
            case protocol.AppendText(request_id, text=piece):
                if arriving := self._arriving.get(request_id):
                    arriving.add(piece)
            case protocol.EndText(request_id):
                if arriving := self._arriving.get(request_id):
                    arriving.end()
            # The other computer chooses its engines.
            case protocol.WatchEngines():
                pass
            case protocol.EngineCommand(request_id):
                self._events.put(protocol.EnginesManaged(request_id, 0))
            case protocol.FinishWrites(request_id):
                self._events.put(protocol.WritesFinished(request_id))
            case _:
                self._start(command, lambda: self._answer(command))

    def _start(self, command: protocol.RequestCommand, answer: Callable[[], Awaitable[Event]]) -> None:
        def end(_: asyncio.Task[None]) -> None:
            self._tasks.pop(command.request_id, None)
            self._arriving.pop(command.request_id, None)

        task = self._tasks[command.request_id] = self._loop.create_task(self._work(command, answer))
        task.add_done_callback(end)

    async def _work(self, command: protocol.RequestCommand, answer: Callable[[], Awaitable[Event]]) -> None:
        """Send the last event of ``command``, which ``answer`` returns."""
        request_id = command.request_id
        try:
            self._events.put(await answer())
        except asyncio.CancelledError:
            self._events.put(protocol.Cancelled(request_id))
        except StudioError as error:
            self._events.put(protocol.Failed(request_id, error.to_record()))
        except Exception as error:  # noqa: BLE001 - the end of a task
            _log.exception("a request to another computer failed")
            failure = InternalError("Unexpected error: {reason}.", remedy="Try again.", reason=error)
            self._events.put(protocol.Failed(request_id, failure.to_record()))

    async def _answer(self, command: protocol.RequestCommand) -> Event:
        match command:
            case protocol.Load(request_id):
                return await self._load(request_id)
            case protocol.Synthesize(request_id, request):
                return await self._stream_with_voice(
                    request_id, request.voice, wire.SPEECH_PATH, lambda sha256: _json(wire.speech_body(request, sha256))
                )
            case protocol.PrepareVoice(request_id, voice):
                return await self._stream_with_voice(
                    request_id, voice, wire.PREPARATION_PATH, lambda sha256: _json(wire.voice_body(voice, sha256))
                )
            case protocol.Convert(request_id, conversion):
                recording = await asyncio.to_thread(_content, conversion.source)

                def converted(sha256: str) -> dict[str, Any]:
                    file = (f"recording{conversion.source.suffix}", recording)
                    options = json.dumps(wire.conversion_body(conversion, sha256))
                    return {"data": {"options": options}, "files": {"file": file}}

                return await self._stream_with_voice(request_id, conversion.voice, wire.CONVERSION_PATH, converted)
            case protocol.NormalizeText(request_id, text):
                answer = await self._ask("POST", wire.SPELLING_PATH, json={"text": text})
                return protocol.NormalizedText(request_id, str(answer["text"]))
        raise NotOnServer(
            "This is not possible while another computer speaks.", remedy="Choose a model of this computer first."
        )

    async def _load(self, request_id: int) -> Event:
        await self._disconnect()  # the token may have changed
        answer = await self._ask("GET", wire.ENGINE_PATH, silence_seconds=_LOAD_SECONDS)
        try:
            return protocol.Ready(request_id, await asyncio.to_thread(keep_description, answer, self._folder))
        except ValueError as error:
            from studio.remote.probing import unfit  # noqa: PLC0415 - slow to import

            raise unfit(self._server, error) from error

    def _connect(self) -> Connection:
        if self._connection is None:
            from studio.remote.connection import Connection  # noqa: PLC0415 - slow to import

            self._connection = Connection(self._server, self._server.token())
        return self._connection

    async def _ask(self, method: str, path: str, **content: Any) -> Any:
        """Return the JSON answer to a request that may be repeated."""
        import httpx2  # noqa: PLC0415 - slow to import

        connection = self._connect()
        try:
            try:
                return await connection.json(method, path, **content)
            except (httpx2.ReadError, httpx2.RemoteProtocolError):  # closed while it was idle
                return await connection.json(method, path, **content)
        except httpx2.TransportError as error:
            raise connection.unreachable(error) from error

    async def _stream_with_voice(
        self, request_id: int, voice: VoiceReference, path: str, content: Callable[[str], dict[str, Any]]
    ) -> Event:
        """Stream a request, after sending its voice if the server does not have it."""
        sha256 = await asyncio.to_thread(self._hashes.of, voice.clip)
        stream = _LineStream(self._connect(), request_id, path, content(sha256), self._events.put)
        for _ in range(_MAX_UPLOADS):
            try:
                return await stream.run()
            except UnknownVoice:
                file = (f"voice{voice.clip.suffix}", await asyncio.to_thread(_content, voice.clip))
                await self._ask("POST", f"{wire.VOICES_PATH}/{sha256}", files={"file": file})
        return await stream.run()


class _LineStream:
    """One request whose answer is a stream of events. ``put`` receives all but the last one."""

    def __init__(
        self,
        connection: Connection,
        request_id: int,
        path: str,
        content: dict[str, Any],
        put: Callable[[Event], None],
    ) -> None:
        self._connection = connection
        self._request_id = request_id
        self._path = path
        self._content = content
        self._put = put
        self._attempts = LineAttempts(connection.server.host, request_id, put)
        self._began = time.perf_counter()
        self._first_audio_seconds: float | None = None
        self._delays = NetworkDelays()

    async def run(self) -> Event:
        """Return the event that ends the stream. Raise ``StudioError`` if all attempts break off before it."""
        return await self._attempts.run(self._attempt)

    async def _attempt(self) -> Event:
        import httpx2  # noqa: PLC0415 - slow to import

        from studio.catalog.network import untrusted_certificate  # noqa: PLC0415

        try:
            async with self._connection.stream(self._path, **self._content) as answer:
                if answer.headers.get("content-type", "") != wire.EVENTS_TYPE:
                    raise self._connection.unknown_answer()
                return await self._last_event(answer)
        except httpx2.TransportError as error:
            failure = self._connection.unreachable(error)
            if untrusted_certificate(error) is not None:  # it stays so
                raise failure from error
            raise StreamBroken(failure) from error
        except ValueError as error:  # of the reader
            raise self._connection.unknown_answer() from error

    async def _last_event(self, answer: httpx2.Response) -> Event:
        reader = wire.EventReader(self._request_id)
        self._delays.begin()
        async for event in _events(answer, reader):
            match event:
                case protocol.AudioReady(request_id, chunk):
                    if (rest := self._attempts.audio.unheard(chunk)) is not None:
                        self._delays.add(self._seconds(), reader.at_seconds)
                        if self._first_audio_seconds is None:
                            self._first_audio_seconds = self._seconds()
                        self._put(protocol.AudioReady(request_id, rest))
                case protocol.Finished(request_id, report):
                    return protocol.Finished(request_id, self._measured(report))
                case protocol.Failed(_, record) if record[0] == TooManyRequests.code:
                    raise from_record(record)
                case protocol.Progress() | protocol.PlaybackStartEstimate():
                    self._put(event)
                case _:
                    return event
        raise StreamBroken(line_lost(self._connection.server.host, wording("closed the connection")))

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _measured(self, report: SynthesisReport) -> SynthesisReport:
        """Return ``report`` with the times of this computer, and the network's share of the first one."""
        first = self._first_audio_seconds
        if first is None:
            return report
        network_seconds = max(0.0, first - report.first_audio_seconds)
        delay_seconds = self._delays.longest_seconds
        network = None
        if delay_seconds is not None:
            network = NetworkFigures(
                network_seconds, report.queue_seconds or 0.0, report.real_time_factor, delay_seconds
            )
        return replace(
            report,
            first_audio_seconds=first,
            total_seconds=self._seconds(),
            network_seconds=network_seconds,
            network=network,
        )


async def _events(answer: httpx2.Response, reader: wire.EventReader) -> AsyncIterator[Event]:
    async for block in answer.aiter_raw():
        for event in reader.feed(block):
            yield event


def _json(body: dict[str, Any]) -> dict[str, Any]:
    return {"json": body}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be read ({reason}).", remedy="Choose another file.", file=path.name, reason=error
        ) from error


def connect_to(server: ServerAddress) -> Callable[[], RemoteWorker]:
    """Return a function that returns a worker, for ``WorkerClient``."""
    return lambda: RemoteWorker(server)
