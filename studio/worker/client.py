"""Asyncio client of the worker: requests go in, audio and reports come out. Does not import torch.

If a worker ends unexpectedly, its requests fail with ``WorkerDied``; the next request starts another worker.
Events arrive on a reading thread (``connection.py``) and are passed to the loop; ``Callbacks.on_audio`` is called
on the reading thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import WorkerBusy, WorkerDied, from_record
from studio.messages import Message, wording
from studio.pipeline.control import Cancelled
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.worker import protocol
from studio.worker.connection import Worker, WorkerConnection
from studio.worker.process import WorkerProcess
from studio.worker.protocol import Command, Event
from studio.worker.request_handle import Callbacks, RequestHandle

_log = logging.getLogger(__name__)

_CLOSE_GRACE_SECONDS = 5.0
# A cancelled request ends within a chunk; a worker that takes longer than any chunk is killed.
_CANCEL_GRACE_SECONDS = 120.0

_Answer = TypeVar("_Answer", bound=Event)
_Ask = (
    protocol.Load
    | protocol.Unload
    | protocol.PrepareVoice
    | protocol.ImportStoredVoices
    | protocol.FinishWrites
    | protocol.NormalizeText
    | protocol.EngineCommand
    | protocol.Ping
)
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class _Question:
    answer: asyncio.Future[Event]
    on_progress: OnProgress | None


class WorkerClient:
    """Client for one model. Use it with ``async with`` or ``close`` it; a closed client may be used again.

    ``start_worker`` returns a worker that is not started yet (tests run one in a thread).
    """

    def __init__(
        self,
        model_folder: Path,
        options: EngineOptions | None = None,
        *,
        start_worker: Callable[[], Worker] = WorkerProcess,
        close_grace_seconds: float = _CLOSE_GRACE_SECONDS,
        cancel_grace_seconds: float = _CANCEL_GRACE_SECONDS,
    ) -> None:
        self.model_folder = model_folder
        self.options = options or EngineOptions()
        self._start_worker = start_worker
        self._close_grace_seconds = close_grace_seconds
        self._cancel_grace_seconds = cancel_grace_seconds
        self._ids = itertools.count(1)
        self._link: WorkerConnection | None = None
        self._link_ended = asyncio.Event()
        self._is_closing = False
        self._on_engine_news: Callable[[EngineStatus], None] | None = None
        self._loading: asyncio.Task[EngineDescription] | None = None
        self._submitting: set[asyncio.Task[None]] = set()
        # Requests that were sent to the worker and have not ended.
        self._running: dict[int, RequestHandle] = {}
        self._questions: dict[int, _Question] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Requests. Every coroutine raises StudioError.

    async def load(self) -> EngineDescription:
        """Start the worker and load the model, unless both are done. Requests call this themselves."""
        while True:
            loading = self._loading or self._begin_loading()
            description = await asyncio.shield(loading)
            if self._loading is loading:  # otherwise the worker has ended since
                return description

    async def unload(self) -> None:
        """Release the model's memory and keep the process, so that the next load is faster than the first."""
        if self._link is not None:
            self._loading = None
            await self._ask(protocol.Unload(next(self._ids)), protocol.Unloaded)

    async def prepare_voice(self, voice: VoiceReference, *, on_progress: OnProgress | None = None) -> VoiceSummary:
        await self.load()
        command = protocol.PrepareVoice(next(self._ids), voice)
        return (await self._ask(command, protocol.VoiceReady, on_progress)).summary

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        pieces: AsyncIterable[str] | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a synthesis; needs a running loop. ``pieces`` supplies the text as it arrives.

        ``in_batch``: a background request; may run concurrently with others and yields to interactive ones.
        """
        command = protocol.Synthesize(next(self._ids), request, text_arrives=pieces is not None, in_batch=in_batch)
        return self._begin(command, hooks, pieces)

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        """Start converting a recording to another voice; needs a running loop."""
        return self._begin(protocol.Convert(next(self._ids), request), hooks)

    async def import_stored_voices(self, path: Path, destination: Path) -> protocol.StoredVoicesWritten:
        """Extract the voices of an official ``spk2info.pt`` into ``destination``, without loading the model."""
        command = protocol.ImportStoredVoices(next(self._ids), path, self.model_folder, destination)
        return await self._ask(command, protocol.StoredVoicesWritten)

    async def finish_writes(self, *, on_progress: OnProgress | None = None) -> None:
        """Wait until the prompt states of new voices are on disk, or no longer advance. Before ``close``."""
        if self._link is not None:
            command = protocol.FinishWrites(next(self._ids))
            with contextlib.suppress(WorkerDied):  # a worker that has ended writes nothing more
                await self._ask(command, protocol.WritesFinished, on_progress)

    async def spell_out(self, text: str) -> str:
        """Return the normalised text, with numbers and signs in words. Does not wait for running requests."""
        command = protocol.NormalizeText(next(self._ids), text, self.model_folder)
        return (await self._ask(command, protocol.NormalizedText)).text

    def watch_engines(self, on_news: Callable[[EngineStatus], None]) -> None:
        """Call ``on_news`` on the loop with every new status of the loaded model's engines."""
        self._on_engine_news = on_news
        if self._link is not None:
            self._link.send(protocol.WatchEngines(next(self._ids)))

    async def manage_engines(self, action: EngineAction, keys: tuple[str, ...] = ()) -> int:
        """Start ``action`` and return the number of bytes freed. Does not wait for running requests."""
        await self.load()
        command = protocol.EngineCommand(next(self._ids), action, keys)
        return (await self._ask(command, protocol.EnginesManaged)).freed_bytes

    async def ping(self, *, timeout_seconds: float = 10.0) -> None:
        """Return when the worker answers. Raises ``WorkerBusy`` after ``timeout_seconds``."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._ask(protocol.Ping(next(self._ids)), protocol.Pong)
        except TimeoutError:
            raise WorkerBusy(
                "The speech process did not respond within {seconds:g} seconds.",
                remedy="Wait a moment, or restart the program.",
                seconds=timeout_seconds,
            ) from None

    async def close(self) -> None:
        """End the worker, and kill it if it does not end in time. Never hangs."""
        for running in list(self._running.values()):
            running.cancel()
        for task in self._submitting:
            task.cancel()
        await asyncio.gather(*self._submitting, return_exceptions=True)
        if self._link is None:
            return
        link, link_ended = self._link, self._link_ended
        self._is_closing = True
        link.send(protocol.Shutdown())
        try:
            async with asyncio.timeout(self._close_grace_seconds):
                await link_ended.wait()
        except TimeoutError:
            _log.warning("the worker did not end in time and is killed")
            link.kill()
            await link_ended.wait()
        except asyncio.CancelledError:
            link.kill()
            raise

    # Commands to the worker.

    @property
    def _is_loaded(self) -> bool:
        loading = self._loading
        return loading is not None and loading.done() and not loading.cancelled() and loading.exception() is None

    def _begin_loading(self) -> asyncio.Task[EngineDescription]:
        self._loading = asyncio.create_task(self._load())
        self._loading.add_done_callback(self._forget_failed_loading)
        return self._loading

    async def _load(self) -> EngineDescription:
        command = protocol.Load(next(self._ids), self.model_folder, self.options)
        return (await self._ask(command, protocol.Ready)).description

    def _forget_failed_loading(self, loading: asyncio.Task[EngineDescription]) -> None:
        has_failed = loading.cancelled() or loading.exception() is not None
        if has_failed and self._loading is loading:
            self._loading = None

    def _begin(
        self,
        command: protocol.Synthesize | protocol.Convert,
        hooks: Callbacks | None,
        pieces: AsyncIterable[str] | None = None,
    ) -> RequestHandle:
        running = RequestHandle(hooks or Callbacks())
        task = asyncio.create_task(self._submit(running, command, pieces))
        self._submitting.add(task)
        task.add_done_callback(self._submitting.discard)
        running.when_over(task.cancel)
        running.when_over(partial(self._stop_working_on, command.request_id))
        return running

    async def _submit(
        self,
        running: RequestHandle,
        command: protocol.Synthesize | protocol.Convert,
        pieces: AsyncIterable[str] | None,
    ) -> None:
        try:
            if not self._is_loaded:
                if running.hooks.on_progress:
                    running.hooks.on_progress("load", 0.0)
                await self.load()
            self._running[command.request_id] = running
            self._send(command)
            if pieces is not None:
                async for piece in pieces:
                    self._send(protocol.AppendText(command.request_id, piece))
                self._send(protocol.EndText(command.request_id))
        except asyncio.CancelledError:  # the request is over, or the client is being closed
            running.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised again by the request's handle
            running.end(error=error)

    async def _ask(self, command: _Ask, kind: type[_Answer], on_progress: OnProgress | None = None) -> _Answer:
        request_id = command.request_id
        question = _Question(asyncio.get_running_loop().create_future(), on_progress)
        self._open_link()
        self._questions[request_id] = question
        self._send(command)
        try:
            event = await question.answer
        except asyncio.CancelledError:
            if self._link is not None:
                self._link.send(protocol.Cancel(request_id))
            raise
        finally:
            self._questions.pop(request_id, None)
        match event:
            case protocol.Failed(_, error):
                raise from_record(error)
            case protocol.Cancelled():
                raise Cancelled
        assert isinstance(event, kind)
        return event

    def _open_link(self) -> None:
        if self._link is None:
            loop = asyncio.get_running_loop()
            self._link_ended = asyncio.Event()
            self._is_closing = False
            try:
                worker = self._start_worker()
            except OSError as error:
                raise self._death(wording("could not be started: {reason}", reason=error)) from error
            self._link = WorkerConnection(
                worker, on_event=partial(self._receive, loop), on_exit=partial(self._hear_of_end, loop)
            )
            if self._on_engine_news is not None:
                self._link.send(protocol.WatchEngines(next(self._ids)))

    def _send(self, command: Command) -> None:
        if self._link is None:
            raise self._death(wording("before the request"))
        self._link.send(command)

    def _stop_working_on(self, request_id: int) -> None:
        """Cancel a request that is over here, and kill the worker if it does not react."""
        if request_id not in self._running or self._link is None:
            return
        link = self._link
        link.send(protocol.Cancel(request_id))

        def kill_if_stuck() -> None:
            if self._link is link and request_id in self._running:
                _log.warning("the worker does not cancel request %d and is killed", request_id)
                link.kill()

        asyncio.get_running_loop().call_later(self._cancel_grace_seconds, kill_if_stuck)

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

    def _hear_of_end(self, loop: asyncio.AbstractEventLoop, how: Message) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._worker_ended, how)

    # Events of the worker, on the loop.

    def _deliver(self, event: Event) -> None:
        request_id = event.request_id
        if isinstance(event, protocol.EngineStatusChanged):
            if self._on_engine_news is not None:
                self._on_engine_news(event.overview)
        elif question := self._questions.get(request_id):
            self._answer(question, event)
        elif running := self._running.get(request_id):
            if isinstance(event, protocol.Finished | protocol.Failed | protocol.Cancelled):
                del self._running[request_id]
            running.receive(event)

    def _answer(self, question: _Question, event: Event) -> None:
        match event:
            case protocol.Progress(_, stage, share):
                if question.on_progress:
                    question.on_progress(stage, share)
            case _:
                if not question.answer.done():
                    question.answer.set_result(event)

    def _worker_ended(self, how: Message) -> None:
        error = self._death(how)
        running, self._running = self._running, {}
        questions, self._questions = self._questions, {}
        self._link = None
        self._loading = None
        for request in running.values():
            request.end(error=error)
        for question in questions.values():
            if not question.answer.done():
                question.answer.set_exception(error)
        self._link_ended.set()

    def _death(self, how: Message) -> WorkerDied:
        if self._is_closing:
            return WorkerDied("The speech process was closed.", remedy="Try again; it is restarted automatically.")
        log = wording(" Log: {path}", path=self._link.worker.log_path) if self._link else ""
        return WorkerDied(
            "The speech process ended unexpectedly ({how}).",
            remedy="Try again; it is restarted automatically.{log}",
            how=how,
            log=log,
        )
