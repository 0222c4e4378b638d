"""Client side of a request running in the worker: its audio as it arrives, and its result."""

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
    """Playback that starts at ``loop_time`` (of ``loop.time()``) will not have to wait for audio.

    ``seconds_after_start`` is the same moment counted from when the worker started the request.
    """

    loop_time: float
    seconds_after_start: float


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions called while a request runs.

    ``on_audio`` is called on the connection's reading thread, so that audio never waits for the event loop; an
    exception in it ends the request. The others are called on the loop.
    """

    on_audio: Callable[[AudioChunk], None] | None = None
    on_progress: Callable[[str, float], None] | None = None
    on_start_time: Callable[[StartTime], None] | None = None


class RequestHandle:
    """Iterate it for its chunks (unless ``on_audio`` takes them), or await :meth:`finished`.

    Used on the event loop, except for :meth:`play`. Leaving its ``async with`` block early cancels the request.
    """

    def __init__(self, hooks: Callbacks) -> None:
        self.hooks = hooks
        self.report: SynthesisReport | None = None
        self._chunks: asyncio.Queue[AudioChunk | None] = asyncio.Queue()
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self._when_over: list[Callable[[], object]] = []

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def cancel(self) -> None:
        """End the request at once: no chunk follows. The worker stops within one chunk."""
        self.end()

    async def finished(self) -> SynthesisReport | None:
        """Wait for the end; return the report, or None if the request was cancelled. Raises ``StudioError``.

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
        self._chunks.put_nowait(None)  # for the next call
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
        """Pass ``chunk`` to ``on_audio`` on this thread; return False if there is no such callback."""
        if self.hooks.on_audio is None:
            return False
        if not self.is_over:
            self.hooks.on_audio(chunk)
        return True

    def receive(self, event: Event) -> None:
        """Process an event of the worker; ignored after the end."""
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
        """End the request, cancelled if there is neither report nor error. Later calls have no effect."""
        if self.is_over:
            return
        self.report, self._error = report, error
        self._over.set()
        self._chunks.put_nowait(None)
        for call in self._when_over:
            call()
