"""Handle of a request that runs in the worker: its audio as it arrives, and its result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from studio.errors import from_record
from studio.pipeline.request import AudioChunk, SynthesisReport
from studio.worker import protocol
from studio.worker.protocol import Event


@dataclass(frozen=True, slots=True)
class StartTime:
    """The earliest start of playback without gaps."""

    loop_time: float  # on the clock of ``loop.time()``
    seconds_after_start: float  # after the worker started the request


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions called while a request runs.

    ``on_audio`` is called on the connection's reading thread, so that audio never waits for the event loop. An
    exception in it ends the request. The others are called on the loop.
    """

    on_audio: Callable[[AudioChunk], None] | None = None
    on_progress: Callable[[str, float], None] | None = None
    on_start_time: Callable[[StartTime], None] | None = None


class RequestHandle:
    """A running request. Iterate over it to receive its chunks if ``on_audio`` is not set, or await :meth:`finished`.

    Use it on the event loop, except for :meth:`play`. Leaving its ``async with`` block early cancels the request.
    """

    def __init__(self, hooks: Callbacks) -> None:
        self.hooks = hooks
        self.report: SynthesisReport | None = None
        self._chunks: asyncio.Queue[AudioChunk | None] = asyncio.Queue()
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self._when_over: list[Callable[[], object]] = []
        # Called by ``stop_early``; set by the client of a worker that can.
        self.on_stop_early: Callable[[], None] = lambda: None

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def cancel(self) -> None:
        """End the request at once: no chunk follows. The worker stops within one chunk."""
        self.end()

    def stop_early(self) -> None:
        """Ask the worker to end after the current sentence. Does nothing on another computer."""
        if not self.is_over:
            self.on_stop_early()

    async def finished(self) -> SynthesisReport | None:
        """Wait for the end. Return the report, or None if the request was cancelled. Raise ``StudioError``.

        Cancelling the wait cancels the request.
        """
        try:
            await self._over.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if self._error is not None:
            raise self._error
        return self.report

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AudioChunk:
        try:
            chunk = await self._chunks.get()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if chunk is not None:
            return chunk
        self._chunks.put_nowait(None)  # ends the next iteration too
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    # For the client.

    def when_over(self, call: Callable[[], object]) -> None:
        """Call ``call`` once on the loop when the request has ended in any way."""
        self._when_over.append(call)

    def play(self, chunk: AudioChunk) -> bool:
        """Pass ``chunk`` to ``on_audio`` on this thread. Return False if there is no such callback."""
        if self.hooks.on_audio is None:
            return False
        if not self.is_over:
            self.hooks.on_audio(chunk)
        return True

    def receive(self, event: Event) -> None:
        """Process an event of the worker. Events after the end are ignored."""
        if self.is_over:
            return
        match event:
            case protocol.AudioReady(_, chunk):
                self._chunks.put_nowait(chunk)
            case protocol.Progress(_, stage, share):
                if self.hooks.on_progress:
                    self.hooks.on_progress(stage, share)
            case protocol.PlaybackStartEstimate(_, seconds_after_start, seconds_from_now):
                if self.hooks.on_start_time:
                    loop_time = asyncio.get_running_loop().time() + seconds_from_now
                    self.hooks.on_start_time(StartTime(loop_time, seconds_after_start))
            case protocol.Finished(_, report):
                self.end(report=report)
            case protocol.Failed(_, record):
                self.end(error=from_record(record))
            case protocol.Cancelled():
                self.end()

    def end(self, *, report: SynthesisReport | None = None, error: BaseException | None = None) -> None:
        """End the request. Without a report or an error, it counts as cancelled. Later calls have no effect."""
        if self.is_over:
            return
        self.report, self._error = report, error
        self._over.set()
        self._chunks.put_nowait(None)
        for call in self._when_over:
            call()
