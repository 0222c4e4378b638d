"""Asyncio client of the worker process. Does not import torch.

If a worker ends unexpectedly, its requests fail with ``WorkerDied``, and the next request starts another worker.
Events arrive on a reading thread (``WorkerConnection``) and are passed to the loop. ``Callbacks.on_audio`` is called
on the reading thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import WorkerDied, from_record
from studio.messages import Message, message
from studio.pipeline.request import (
    Cancelled,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.text.arriving import ArrivingText, Fragment
from studio.worker import protocol
from studio.worker.arriving_text import speech_events, text_parts
from studio.worker.process import Worker, WorkerConnection, WorkerProcess
from studio.worker.protocol import Command, Event, RequestCommand
from studio.worker.request_events import follow
from studio.worker.request_handle import Callbacks, RequestHandle

_log = logging.getLogger(__name__)

_CLOSE_GRACE_SECONDS = 5.0
# A cancelled request ends within one chunk, so a worker that takes longer than any chunk is killed.
_CANCEL_GRACE_SECONDS = 120.0

_Result = TypeVar("_Result", bound=Event)
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class _PendingCall:
    result: asyncio.Future[Event]
    on_progress: OnProgress | None


class WorkerClient:
    """Client for one model. Use it with ``async with``, or call ``close``. A closed client may be used again.

    ``start_worker`` returns a worker that has not been started. Tests run it in a thread.
    """

    def __init__(
        self,
        model_folder: Path,
        options: EngineOptions | None = None,
        *,
        start_worker: Callable[[], Worker] = WorkerProcess,
    ) -> None:
        self.model_folder = model_folder
        self.options = options or EngineOptions()
        self._start_worker = start_worker
        self._ids = itertools.count(1)
        self._connection: WorkerConnection | None = None
        self._connection_ended = asyncio.Event()
        self._is_closing = False
        self._on_engine_status: Callable[[EngineStatus], None] | None = None
        self._loading: asyncio.Task[EngineDescription] | None = None
        self._submitting: set[asyncio.Task[None]] = set()
        # Requests that were sent to the worker and have not ended.
        self._running: dict[int, RequestHandle] = {}
        self._arriving: set[RequestHandle] = set()  # requests whose text arrives
        self._pending_calls: dict[int, _PendingCall] = {}
        self._num_lost_workers = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def worker_pid(self) -> int | None:
        """The id of the worker's process, or None if it is not running."""
        return None if self._connection is None else self._connection.worker.pid

    # Requests. Every coroutine may raise StudioError.

    async def load(self, *, on_progress: OnProgress | None = None) -> EngineDescription:
        """Start the worker and load the model, if this was not done before. Requests call this themselves.

        ``on_progress`` reports comparisons of precisions if this call starts the loading.
        """
        while True:
            loading = self._loading or self._begin_loading(on_progress)
            description = await asyncio.shield(loading)
            if self._loading is loading:  # otherwise the worker has ended in the meantime
                return description

    async def prepare_voice(self, voice: VoiceReference, *, on_progress: OnProgress | None = None) -> VoiceSummary:
        await self.load()
        command = protocol.PrepareVoice(next(self._ids), voice)
        return (await self._call(command, protocol.VoiceReady, on_progress)).summary

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        pieces: AsyncIterable[str] | None = None,
        text: ArrivingText | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a synthesis on the running loop.

        Args:
            request: the text and the voice.
            pieces: the text, if it arrives in pieces; the text of ``request`` is empty then. ``on_audio`` is then
                called on the loop.
            text: the sentence to speak, if it is still being written; the text of ``request`` is empty then. Only for
                models with ``EngineDescription.interleaves_text``.
            hooks: functions that are called while the request runs.
            in_batch: whether this is a background request, which may run concurrently with others. Interactive
                requests start before it.
        """
        if pieces is not None:
            return self._follow_text(request, pieces, hooks, in_batch=in_batch)
        command = protocol.Synthesize(next(self._ids), request, in_batch, text_arrives=text is not None)
        return self._begin(command, hooks, text)

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        """Start the conversion of a recording to another voice, on the running loop."""
        return self._begin(protocol.Convert(next(self._ids), request), hooks)

    async def read_recording(self, request: SynthesisRequest, source: Path) -> SynthesisReport:
        """Read the speech tokens of a recording of the text of ``request``. The report contains them as evidence."""
        await self.load()
        return (await self._call(protocol.ReadRecording(next(self._ids), request, source), protocol.Finished)).report

    async def import_stored_voices(self, path: Path, destination: Path) -> protocol.StoredVoicesWritten:
        """Extract the voices of an official ``spk2info.pt`` into ``destination``, without loading the model."""
        command = protocol.ImportStoredVoices(next(self._ids), path, self.model_folder, destination)
        return await self._call(command, protocol.StoredVoicesWritten)

    async def finish_writes(self, *, on_progress: OnProgress | None = None) -> None:
        """Wait until the prompt states of new voices are on disk or writing stalls. Call this before ``close``."""
        if self._connection is not None:
            command = protocol.FinishWrites(next(self._ids))
            with contextlib.suppress(WorkerDied):  # a worker that has ended writes nothing more
                await self._call(command, protocol.WritesFinished, on_progress)

    async def num_lost_workers(self) -> int:
        """Return how many workers have ended unexpectedly."""
        return self._num_lost_workers

    async def spell_out(self, text: str, language: str = "") -> str:
        """Return ``text`` with numbers and signs in words. Does not wait for running requests."""
        command = protocol.NormalizeText(next(self._ids), text, self.model_folder, language)
        return (await self._call(command, protocol.NormalizedText)).text

    def watch_engines(self, on_status: Callable[[EngineStatus], None]) -> None:
        """Call ``on_status`` on the loop with every new engine status of the loaded model."""
        self._on_engine_status = on_status
        if self._connection is not None:
            self._connection.send(protocol.WatchEngines(next(self._ids)))

    async def manage_engines(self, action: EngineAction, keys: tuple[str, ...] = ()) -> int:
        """Start ``action`` and return the number of bytes freed. Does not wait for running requests."""
        await self.load()
        command = protocol.EngineCommand(next(self._ids), action, keys)
        return (await self._call(command, protocol.EnginesManaged)).freed_bytes

    async def close(self) -> None:
        """End the worker, and kill it if it does not end in time. Never hangs."""
        for running in [*self._arriving, *self._running.values()]:
            running.cancel()
        for task in self._submitting:
            task.cancel()
        await asyncio.gather(*self._submitting, return_exceptions=True)
        if self._connection is None:
            return
        connection, connection_ended = self._connection, self._connection_ended
        self._is_closing = True
        connection.send(protocol.Shutdown())
        try:
            async with asyncio.timeout(_CLOSE_GRACE_SECONDS):
                await connection_ended.wait()
        except TimeoutError:
            _log.warning("the worker did not end in time and is killed")
            connection.kill()
            await connection_ended.wait()
        except asyncio.CancelledError:
            connection.kill()
            raise

    # Commands to the worker.

    @property
    def _is_loaded(self) -> bool:
        loading = self._loading
        return loading is not None and loading.done() and not loading.cancelled() and loading.exception() is None

    def _begin_loading(self, on_progress: OnProgress | None) -> asyncio.Task[EngineDescription]:
        self._loading = asyncio.create_task(self._load(on_progress))
        self._loading.add_done_callback(self._forget_failed_loading)
        return self._loading

    async def _load(self, on_progress: OnProgress | None) -> EngineDescription:
        command = protocol.Load(next(self._ids), self.model_folder, self.options)
        return (await self._call(command, protocol.Ready, on_progress)).description

    def _forget_failed_loading(self, loading: asyncio.Task[EngineDescription]) -> None:
        has_failed = loading.cancelled() or loading.exception() is not None
        if has_failed and self._loading is loading:
            self._loading = None

    def _follow_text(
        self, request: SynthesisRequest, pieces: AsyncIterable[str], hooks: Callbacks | None, *, in_batch: bool
    ) -> RequestHandle:
        def begin(part: SynthesisRequest, text: ArrivingText | None, part_hooks: Callbacks) -> RequestHandle:
            return self.synthesize(part, text=text, hooks=part_hooks, in_batch=in_batch)

        async def events() -> AsyncGenerator[Event, None]:
            if not self._is_loaded:
                yield protocol.Progress(0, "load", 0.0)
            description = await self.load()  # while the text arrives
            parts = text_parts(pieces, interleaves=description.interleaves_text)
            async with contextlib.aclosing(speech_events(request, parts, begin)) as speech:
                async for event in speech:
                    yield event

        handle = follow(events(), hooks)
        self._arriving.add(handle)
        handle.when_over(partial(self._arriving.discard, handle))
        return handle

    def _begin(
        self,
        command: protocol.Synthesize | protocol.Convert,
        hooks: Callbacks | None,
        text: ArrivingText | None = None,
    ) -> RequestHandle:
        running = RequestHandle(hooks or Callbacks())
        task = asyncio.create_task(self._submit(running, command, text))
        self._submitting.add(task)
        task.add_done_callback(self._submitting.discard)
        running.when_over(task.cancel)
        running.when_over(partial(self._cancel_in_worker, command.request_id))
        running.on_stop_early = partial(self._stop_early_in_worker, command.request_id)
        return running

    async def _submit(
        self, running: RequestHandle, command: protocol.Synthesize | protocol.Convert, text: ArrivingText | None
    ) -> None:
        try:
            if not self._is_loaded:
                if running.hooks.on_progress:
                    running.hooks.on_progress("load", 0.0)
                await self.load()
            self._running[command.request_id] = running
            self._send(command)
            if text is not None:
                running.when_over(text.follow(partial(self._add_text, command.request_id)))
        except asyncio.CancelledError:  # the request has ended, or the client is being closed
            running.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised again by the request's handle
            running.end(error=error)

    async def _call(
        self, command: RequestCommand, kind: type[_Result], on_progress: OnProgress | None = None
    ) -> _Result:
        request_id = command.request_id
        pending = _PendingCall(asyncio.get_running_loop().create_future(), on_progress)
        self._open_connection()
        self._pending_calls[request_id] = pending
        self._send(command)
        try:
            event = await pending.result
        except asyncio.CancelledError:
            if self._connection is not None:
                self._connection.send(protocol.Cancel(request_id))
            raise
        finally:
            self._pending_calls.pop(request_id, None)
        match event:
            case protocol.Failed(_, error):
                raise from_record(error)
            case protocol.Cancelled():
                raise Cancelled
        assert isinstance(event, kind)
        return event

    def _open_connection(self) -> None:
        if self._connection is None:
            loop = asyncio.get_running_loop()
            self._connection_ended = asyncio.Event()
            self._is_closing = False
            try:
                worker = self._start_worker()
            except OSError as error:
                raise self._death(message("could not be started: {reason}", reason=error)) from error
            self._connection = WorkerConnection(
                worker, on_event=partial(self._receive, loop), on_exit=partial(self._on_worker_exit, loop)
            )
            if self._on_engine_status is not None:
                self._connection.send(protocol.WatchEngines(next(self._ids)))

    def _send(self, command: Command) -> None:
        if self._connection is None:
            raise self._death(message("before the request"))
        self._connection.send(command)

    def _add_text(self, request_id: int, fragment: Fragment) -> None:
        if request_id in self._running and self._connection is not None:
            self._connection.send(protocol.AddText(request_id, fragment))

    def _stop_early_in_worker(self, request_id: int) -> None:
        if request_id in self._running and self._connection is not None:
            self._connection.send(protocol.StopEarly(request_id))

    def _cancel_in_worker(self, request_id: int) -> None:
        """Cancel a request that has already ended for the client, and kill the worker if it does not react."""
        if request_id not in self._running or self._connection is None:
            return
        connection = self._connection
        connection.send(protocol.Cancel(request_id))

        def kill_if_stuck() -> None:
            if self._connection is connection and request_id in self._running:
                _log.warning("the worker does not cancel request %d and is killed", request_id)
                connection.kill()

        asyncio.get_running_loop().call_later(_CANCEL_GRACE_SECONDS, kill_if_stuck)

    # Events of the worker, on the reading thread.

    def _receive(self, loop: asyncio.AbstractEventLoop, event: Event) -> None:
        call = partial(self._deliver, event)
        if isinstance(event, protocol.AudioReady) and (running := self._running.get(event.request_id)):
            try:
                if running.play(event.chunk):
                    return
            except Exception as error:  # noqa: BLE001 - raised again by the request's handle
                call = partial(running.end, error=error)
        try:
            loop.call_soon_threadsafe(call)
        except RuntimeError:  # the loop is closed
            raise EOFError from None

    def _on_worker_exit(self, loop: asyncio.AbstractEventLoop, reason: Message) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._worker_ended, reason)

    # Events of the worker, on the loop.

    def _deliver(self, event: Event) -> None:
        request_id = event.request_id
        if isinstance(event, protocol.EngineStatusChanged):
            if self._on_engine_status is not None:
                self._on_engine_status(event.overview)
        elif pending := self._pending_calls.get(request_id):
            self._resolve(pending, event)
        elif running := self._running.get(request_id):
            if isinstance(event, protocol.Finished | protocol.Failed | protocol.Cancelled):
                del self._running[request_id]
            running.receive(event)

    def _resolve(self, pending: _PendingCall, event: Event) -> None:
        match event:
            case protocol.Progress(_, stage, share):
                if pending.on_progress:
                    pending.on_progress(stage, share)
            case _:
                if not pending.result.done():
                    pending.result.set_result(event)

    def _worker_ended(self, reason: Message) -> None:
        error = self._death(reason)
        self._num_lost_workers += not self._is_closing
        running, self._running = self._running, {}
        pendings, self._pending_calls = self._pending_calls, {}
        self._connection = None
        self._loading = None
        for request in running.values():
            request.end(error=error)
        for pending in pendings.values():
            if not pending.result.done():
                pending.result.set_exception(error)
        self._connection_ended.set()

    def _death(self, reason: Message) -> WorkerDied:
        if self._is_closing:
            return WorkerDied("The speech process was closed.", remedy="Try again; it is restarted automatically.")
        log = message(" Log: {path}", path=self._connection.worker.log_path) if self._connection else ""
        return WorkerDied(
            "The speech process ended unexpectedly ({how}).",
            remedy="Try again; it is restarted automatically.{log}",
            how=reason,
            log=log,
        )
