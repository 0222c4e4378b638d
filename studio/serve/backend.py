"""Interface of the service to a worker, and speech requests that are restarted if the worker ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

from studio.errors import StudioError, WorkerDied
from studio.pipeline.control import Cancelled
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.remote.resumable_request import Interrupted, ResumableRequest
from studio.serve.fair_queue import FairQueue
from studio.worker.request_handle import Callbacks, RequestHandle

# Delays before a request starts again after its worker has ended.
_RETRY_SECONDS = (0.0, 0.0)


class SpeechBackend(Protocol):
    """The part of ``WorkerClient`` that the service uses."""

    async def load(self) -> EngineDescription: ...

    async def num_lost_workers(self) -> int: ...

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        pieces: AsyncIterable[str] | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle: ...

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle: ...

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary: ...

    async def spell_out(self, text: str) -> str: ...


@dataclass(slots=True)
class SpeechTimes:
    """Times of one request, in seconds since ``arrived``. None until they are known."""

    arrived: float = field(default_factory=time.perf_counter)
    waited: float | None = None
    first_audio: float | None = None

    def now(self) -> float:
        return time.perf_counter() - self.arrived


class ServedSpeech:
    """Audio of one request. The worker produces it at full speed, even if the client reads slowly.

    If the worker ends, the request starts again with the same seed in a new worker, and the samples that have been
    delivered are skipped: the audio of a request does not depend on the number of attempts.
    """

    def __init__(
        self,
        backend: SpeechBackend,
        queue: FairQueue,
        client: str,
        begin: Callable[[SpeechBackend], RequestHandle],
        *,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        self.times = SpeechTimes()
        self.report: SynthesisReport | None = None
        self._backend = backend
        self._queue = queue
        self._client = client
        self._begin = begin
        self._request = ResumableRequest(_RETRY_SECONDS, on_restart, compares=False)
        self._chunks: asyncio.Queue[AudioChunk | None] = asyncio.Queue()
        queue.require_place()
        self._end_error: StudioError | None = None
        self._task = asyncio.create_task(self._produce())

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Yield the chunks. Raise ``StudioError`` after the last chunk of a request that failed."""
        while (chunk := await self._chunks.get()) is not None:
            yield chunk
        self._chunks.put_nowait(None)
        try:
            await self._task
        except asyncio.CancelledError:
            if self._end_error is None:
                raise
            raise self._end_error from None

    async def cancel(self) -> None:
        """End the request; the worker stops within one chunk."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError, StudioError):
            await self._task

    def end(self, error: StudioError) -> None:
        """End the request, and raise ``error`` in ``chunks``."""
        self._end_error = error
        self._task.cancel()

    async def _produce(self) -> None:
        try:
            async with self._queue.slot(self._client):
                self.times.waited = self.times.now()
                await self._request.run(self._attempt)
        finally:
            self._chunks.put_nowait(None)

    async def _attempt(self) -> None:
        try:
            async with self._begin(self._backend) as handle:
                async for chunk in handle:
                    if (rest := self._request.new_part(chunk)) is not None:
                        if self.times.first_audio is None:
                            self.times.first_audio = self.times.now()
                        self._chunks.put_nowait(rest)
                self.report = await handle.finished()
        except WorkerDied as error:
            raise Interrupted(error) from error
        if self.report is None:
            raise Cancelled
