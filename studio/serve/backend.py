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
from studio.serve.fair_queue import FairQueue
from studio.worker.request_handle import Callbacks, RequestHandle

# How often a request is started again after its worker has ended.
_MAX_ATTEMPTS = 3


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


Begin = Callable[[SpeechBackend], RequestHandle]


class ServedSpeech:
    """Audio of one request. The worker produces it at full speed, even if the client reads slowly.

    If the worker ends, the request starts again with the same seed in a new worker, and the samples that have been
    delivered are skipped: the audio of a request does not depend on the number of attempts. A request with
    ``can_restart`` False fails instead, because its text has been consumed.
    """

    def __init__(
        self,
        backend: SpeechBackend,
        queue: FairQueue,
        client: str,
        begin: Begin,
        *,
        can_restart: bool = True,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        self.times = SpeechTimes()
        self.report: SynthesisReport | None = None
        self._backend = backend
        self._queue = queue
        self._client = client
        self._begin = begin
        self._attempts = _MAX_ATTEMPTS if can_restart else 1
        self._on_restart = on_restart
        self._chunks: asyncio.Queue[AudioChunk | None] = asyncio.Queue()
        self._num_samples = 0
        queue.require_place()
        self._task = asyncio.create_task(self._produce())

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Yield the chunks. Raise ``StudioError`` after the last chunk of a request that failed."""
        while (chunk := await self._chunks.get()) is not None:
            yield chunk
        self._chunks.put_nowait(None)
        await self._task

    async def cancel(self) -> None:
        """End the request; the worker stops within one chunk."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError, StudioError):
            await self._task

    async def _produce(self) -> None:
        try:
            async with self._queue.slot(self._client):
                self.times.waited = self.times.now()
                await self._run()
        finally:
            self._chunks.put_nowait(None)

    async def _run(self) -> None:
        for attempt in range(1, self._attempts + 1):
            try:
                await self._run_once()
            except WorkerDied:
                if attempt == self._attempts:
                    raise
                self._on_restart()
            else:
                return

    async def _run_once(self) -> None:
        num_to_skip = self._num_samples
        async with self._begin(self._backend) as handle:
            async for chunk in handle:
                skipped = min(num_to_skip, len(chunk.samples))
                num_to_skip -= skipped
                if skipped < len(chunk.samples):
                    self._pass_on(chunk, skipped)
            self.report = await handle.finished()
        if self.report is None:
            raise Cancelled

    def _pass_on(self, chunk: AudioChunk, start: int) -> None:
        if self.times.first_audio is None:
            self.times.first_audio = self.times.now()
        samples = chunk.samples[start:]
        self._num_samples += len(samples)
        self._chunks.put_nowait(AudioChunk(samples, chunk.sample_rate, chunk.sentence_index, chunk.num_sentences))
