"""Interface of the service to a worker, and speech requests that are restarted if the worker ends."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Protocol

import numpy as np

from studio.errors import DiskFull, StudioError, WorkerDied
from studio.model.options import Quality
from studio.pipeline.request import (
    AudioChunk,
    Cancelled,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.remote.resumable_request import Interrupted, ResumableRequest
from studio.serve.fair_queue import FairQueue
from studio.text.arriving import ArrivingText
from studio.text.segmentation import TextPart
from studio.worker.arriving_text import ContinuedSpeech
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

# Delays before a request starts again after its worker has ended.
_RETRY_SECONDS = (0.0, 0.0)
# How long the response waits for a forecast after the first chunk. Without measured times, none comes.
_FORECAST_SECONDS = 0.2
_MAX_BACKLOG_BYTES = 8 << 20
# A sentence whose text and audio pause for this long gives up its slot if another client waits.
_PAUSE_SECONDS = 1.0
_POLL_SECONDS = 0.2


class SpeechBackend(Protocol):
    """The part of ``WorkerClient`` that the service uses."""

    async def load(self) -> EngineDescription: ...

    async def num_lost_workers(self) -> int: ...

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        text: ArrivingText | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle: ...

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle: ...

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary: ...

    async def spell_out(self, text: str, language: str = "") -> str: ...


async def warm_up(backend: SpeechBackend, voice: VoiceReference, quality: Quality, *, in_batch: bool) -> None:
    """Speak a sentence, so that no client waits for what the first use of a model, a voice or a quality computes.

    The forecast of gapless playback needs the times of several chunks. Raise ``StudioError``.
    """
    text = "The service is ready as soon as this sentence is complete."
    async with backend.synthesize(SynthesisRequest(text, voice, quality=quality), in_batch=in_batch) as handle:
        await handle.finished()


@dataclass(slots=True)
class SpeechTimes:
    """Times of one request, in seconds since ``arrived``. None until they are known.

    ``gapless_start`` is the first forecast of the earliest start of playback without gaps. A text that arrives counts
    from its first part, before which it has no text.
    """

    arrived: float = field(default_factory=time.perf_counter)
    waited: float | None = None
    first_audio: float | None = None
    gapless_start: float | None = None
    has_text: bool = True

    def now(self) -> float:
        return time.perf_counter() - self.arrived


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """A part of an arriving text whose audio is complete."""

    text: str
    report: SynthesisReport


class TextMark(Enum):
    """Marks between the parts of an arriving text."""

    FLUSH = "what has arrived is to be spoken"
    END = "no more text follows"


SpeechEvent = AudioChunk | SpokenPart | TextMark


class Backlog:
    """Events that a client has not read yet. Beyond ``max_bytes``, the samples of chunks are in a temporary file."""

    def __init__(self, max_bytes: int = _MAX_BACKLOG_BYTES) -> None:
        self._events: asyncio.Queue[tuple[SpeechEvent | None, int]] = asyncio.Queue()
        self._samples = tempfile.SpooledTemporaryFile(max_bytes)  # noqa: SIM115 - closed by ``close``
        self._num_read = self._num_written = 0

    def put(self, event: SpeechEvent | None) -> None:
        """Append ``event``; None is the end. Raise ``DiskFull``."""
        num_bytes = 0
        if isinstance(event, AudioChunk):
            num_bytes = self._store(event.samples.tobytes())
            event = replace(event, samples=event.samples[:0])
        self._events.put_nowait((event, num_bytes))

    async def get(self) -> SpeechEvent | None:
        """Return the next event, or None at the end."""
        event, num_bytes = await self._events.get()
        if not isinstance(event, AudioChunk):
            return event
        self._samples.seek(self._num_read)
        samples = np.frombuffer(self._samples.read(num_bytes), np.float32)
        self._num_read += num_bytes
        if self._num_read == self._num_written:
            self._num_read = self._num_written = 0
            self._samples.seek(0)
            self._samples.truncate()
        return replace(event, samples=samples)

    def close(self) -> None:
        self._samples.close()

    def _store(self, content: bytes) -> int:
        try:
            self._samples.seek(self._num_written)
            self._samples.write(content)
        except OSError as error:
            raise DiskFull(
                "The audio that a slow client has not read cannot be stored.", remedy="Free some space and try again."
            ) from error
        self._num_written += len(content)
        return len(content)


Begin = Callable[[SpeechBackend], RequestHandle]
# Of a request, with its sentence if that is still being written.
BeginPart = Callable[[SynthesisRequest, ArrivingText | None], Begin]


class _TextPaused(Exception):
    """A sentence gave up its slot before its text was complete."""


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
        speak: Callable[[ServedSpeech], Awaitable[SynthesisReport]],
        *,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        """``speak`` calls :meth:`run` once, or for each part of a text that arrives, and returns the whole report."""
        self.times = SpeechTimes()
        self.report: SynthesisReport | None = None
        self.hooks = Callbacks(on_start_time=self._on_start_time)  # for the request of the worker
        self._has_forecast = asyncio.Event()
        self._last_chunk = 0.0
        self._num_sentences = 0  # and pauses, of the whole text
        self._backend = backend
        self._queue = queue
        self._client = client
        self._on_restart = on_restart
        queue.require_place()
        self._events = Backlog()
        self._end_error: StudioError | None = None
        self._task = asyncio.create_task(self._produce(speak))

    async def chunks(self) -> AsyncIterator[AudioChunk]:
        """Yield the chunks. Raise ``StudioError`` after the last chunk of a request that failed."""
        async for event in self.events():
            if isinstance(event, AudioChunk):
                yield event

    async def events(self) -> AsyncIterator[SpeechEvent]:
        """Yield the chunks, and each part and mark after the chunks before it. Raise as :meth:`chunks`."""
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put(None)
        try:
            await self._task
        except asyncio.CancelledError:
            if self._end_error is None:
                raise
            raise self._end_error from None

    async def playback_delay(self) -> float | None:
        """Return how many seconds from now playback without gaps can start, or None without a forecast.

        Call it after the first chunk, which the forecast follows at once.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FORECAST_SECONDS):
                await self._has_forecast.wait()
        if self.report is not None:
            return 0.0
        start = self.times.gapless_start
        return None if start is None else max(0.0, start - self.times.now())

    def _on_start_time(self, start: StartTime) -> None:
        if self.times.gapless_start is None:
            from_now = start.loop_time - asyncio.get_running_loop().time()
            self.times.gapless_start = self.times.now() + from_now
            self._has_forecast.set()

    async def cancel(self) -> None:
        """End the request; the worker stops within one chunk."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError, StudioError):
            await self._task
        self._events.close()

    def end(self, error: StudioError) -> None:
        """End the request, and raise ``error`` in ``chunks`` and ``events``."""
        self._end_error = error
        self._task.cancel()

    async def run(self, begin: Begin, *, is_continued: bool = False, yields: bool = False) -> SynthesisReport:
        """Wait for a slot and run one request of the worker. Return its report. Raise ``StudioError``.

        A request that continues another one waits for those whose clients have not heard anything. One that ``yields``
        ends after its current sentence if such a client waits.
        """
        request = ResumableRequest(_RETRY_SECONDS, self._on_restart, compares=False)
        async with self._queue.slot(self._client, is_continued=is_continued):
            if self.times.waited is None:
                self.times.waited = self.times.now()
            try:
                return await request.run(partial(self._attempt, request, begin, yields=yields))
            finally:
                self._queue.forget_yielding(self)

    async def speak_arriving(self, text: ArrivingText, begin: Begin, *, is_continued: bool = False) -> SynthesisReport:
        """Speak a sentence that is still being written. ``begin`` reads ``text`` from its start.

        If the text pauses and another client waits, the slot is given up. The sentence then starts again once it is
        complete, and the samples that have been delivered are skipped.
        """
        request = ResumableRequest(_RETRY_SECONDS, self._on_restart, compares=False)
        while True:
            try:
                async with self._queue.slot(self._client, is_continued=is_continued):
                    if self.times.waited is None:
                        self.times.waited = self.times.now()
                    return await request.run(partial(self._attempt_arriving, request, begin, text))
            except _TextPaused:
                is_continued = True
                while not text.is_complete:
                    await asyncio.sleep(_POLL_SECONDS)
            finally:
                self._queue.forget_yielding(self)

    async def _attempt_arriving(self, request: ResumableRequest, begin: Begin, text: ArrivingText) -> SynthesisReport:
        speaking = asyncio.ensure_future(self._attempt(request, begin, yields=False))
        try:
            while not (await asyncio.wait([speaking], timeout=_POLL_SECONDS))[0]:
                is_idle = min(text.idle_seconds, time.perf_counter() - self._last_chunk) > _PAUSE_SECONDS
                if is_idle and not text.is_complete and self._queue.wants_slot(self):
                    raise _TextPaused
            return speaking.result()
        finally:
            speaking.cancel()
            await asyncio.wait([speaking])

    async def speak_text(self, request: SynthesisRequest, begin: BeginPart) -> SynthesisReport:
        """Speak a text that is complete, in as many requests as it takes if it has to give up its slot."""
        speech = ContinuedSpeech(request)
        while True:
            rest = speech.rest_of_text()
            is_continued = rest.first_index + rest.num_skipped > 0
            speech.add(await self.run(begin(rest, None), is_continued=is_continued, yields=True))
            assert speech.report is not None
            if request.first_index + speech.report.num_items >= self._num_sentences:
                return speech.report

    async def speak_parts(
        self,
        request: SynthesisRequest,
        parts: AsyncIterable[TextPart | TextMark],
        begin: BeginPart,
    ) -> SynthesisReport:
        """Speak each part of a text as it arrives. A slot is held only while one is spoken. Raise ``StudioError``."""
        speech = ContinuedSpeech(request)
        self.times.has_text = False
        async for part in parts:
            if isinstance(part, TextMark):
                self._events.put(part)
                continue
            if not self.times.has_text:
                self.times = SpeechTimes()
            following = speech.request_for(part)
            if part.arriving is None:
                report = await self.speak_text(following, begin)
            else:
                report = await self.speak_arriving(
                    part.arriving, begin(following, part.arriving), is_continued=speech.report is not None
                )
            speech.add(report)
            self._events.put(SpokenPart(part.written, report))
        assert speech.report is not None
        return speech.report

    async def _produce(self, speak: Callable[[ServedSpeech], Awaitable[SynthesisReport]]) -> None:
        try:
            self.report = await speak(self)
        finally:
            self._has_forecast.set()
            self._events.put(None)

    async def _attempt(self, request: ResumableRequest, begin: Begin, *, yields: bool) -> SynthesisReport:
        try:
            async with begin(self._backend) as handle:
                async for chunk in handle:
                    self._last_chunk = time.perf_counter()
                    self._num_sentences = chunk.num_sentences
                    if yields and self._queue.wants_slot(self):
                        handle.stop_early()
                    if (rest := request.new_part(chunk)) is not None:
                        if self.times.first_audio is None:
                            self.times.first_audio = self.times.now()
                        self._events.put(rest)
                report = await handle.finished()
        except WorkerDied as error:
            raise Interrupted(error) from error
        if report is None:
            raise Cancelled
        return report
