"""Speech source of the worker. Requests lines ahead, because some engines synthesise several at once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import OutOfMemory, StudioError, WorkerDied
from studio.export.speech_source import ExportItem
from studio.pipeline.control import Cancelled, RequestControl
from studio.pipeline.request import AudioChunk, EngineDescription, LengthFinding, SynthesisRequest
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks

_log = logging.getLogger(__name__)

# At least the batch size of any engine; the worker limits it further.
_LINES_AHEAD = 32


@dataclass(frozen=True, slots=True)
class _Asked:
    speaking: asyncio.Task[Waveform]
    in_batch: bool


class WorkerSource:
    """A ``SpeechSource`` for a background thread. The client runs on ``loop``.

    ``requests`` maps keys of items to requests. ``on_loaded`` and ``on_spoken`` (seconds of the current line so far) may
    be called on any thread. ``odd_lengths`` maps keys to sentences whose speech is too short or too long for the text.

    A line that fails for a reason that another line may have caused (the worker ended, memory is full) is spoken again
    alone, so that only the cause counts as failed.
    """

    def __init__(
        self,
        client: WorkerClient,
        loop: asyncio.AbstractEventLoop,
        requests: Mapping[str, SynthesisRequest],
        control: RequestControl,
        *,
        on_loaded: Callable[[EngineDescription], None] = lambda _: None,
        on_spoken: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._loop = loop
        self._requests = requests
        self._control = control
        self._on_loaded = on_loaded
        self._on_spoken = on_spoken
        self._is_loaded = False
        self._load_failure: StudioError | None = None
        self._coming: list[str] = []
        self._waiting_for: concurrent.futures.Future[Waveform] | None = None
        # Used on the loop only: requested lines, and the current one.
        self._asked: dict[str, _Asked] = {}
        self.odd_lengths: dict[str, tuple[LengthFinding, ...]] = {}
        self._present: str | None = None
        control.when_cancelled(self._cancel)

    def needs_speaking(self, item: ExportItem) -> bool:
        return item.key in self._requests

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._coming = list(dict.fromkeys(item.key for item in items))

    def waveform_of(self, item: ExportItem) -> Waveform:
        self._control.raise_if_cancelled()
        waiting_for = asyncio.run_coroutine_threadsafe(self._sound_of(item.key), self._loop)
        self._waiting_for = waiting_for
        if self._control.is_cancelled:  # cancelled before _waiting_for was set
            self._cancel()
        try:
            return waiting_for.result()
        except concurrent.futures.CancelledError:
            raise Cancelled from None

    # On the loop.

    async def _sound_of(self, key: str) -> Waveform:
        await self._load()
        self._present = key
        self._ask_for([key, *self._ahead_of(key)])
        asked = self._asked[key]
        try:
            return await asked.speaking
        except (WorkerDied, OutOfMemory):
            if not asked.in_batch:
                raise
        finally:
            del self._asked[key]
        if self._asked:
            await asyncio.wait([other.speaking for other in self._asked.values()])
        return await self._speak(key, in_batch=False)

    def _ahead_of(self, key: str) -> list[str]:
        """Return the next keys after ``key``."""
        if key not in self._coming:
            return []
        del self._coming[: self._coming.index(key) + 1]
        return self._coming[:_LINES_AHEAD]

    def _ask_for(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in self._asked:
                in_batch = len(keys) > 1
                speaking = self._loop.create_task(self._speak(key, in_batch=in_batch))
                speaking.add_done_callback(_retrieve_exception)
                self._asked[key] = _Asked(speaking, in_batch)

    async def _speak(self, key: str, *, in_batch: bool) -> Waveform:
        chunks: list[Samples] = []
        num_samples = 0

        def take(chunk: AudioChunk) -> None:
            nonlocal num_samples
            chunks.append(chunk.samples)
            num_samples += len(chunk.samples)
            if key == self._present:
                self._on_spoken(num_samples / chunk.sample_rate)

        async with self._client.synthesize(
            self._requests[key], hooks=Callbacks(on_audio=take), in_batch=in_batch
        ) as running:
            report = await running.finished()
        if report is None:
            raise Cancelled
        if report.odd_lengths:
            self.odd_lengths[key] = report.odd_lengths
        return Waveform(np.concatenate([np.zeros(0, np.float32), *chunks]), report.sample_rate)

    async def _load(self) -> None:
        """Load the model once. After a failure, raise the same error for each line."""
        if self._load_failure is not None:
            raise self._load_failure
        try:
            description = await self._load_twice()
        except StudioError as error:
            self._load_failure = error
            raise
        if not self._is_loaded:
            self._is_loaded = True
            self._on_loaded(description)

    async def _load_twice(self) -> EngineDescription:
        """Load the model; start another worker if this one ends while it loads."""
        try:
            return await self._client.load()
        except WorkerDied as error:
            _log.warning("the worker ended while loading the model and is started again: %s", error)
            return await self._client.load()

    # From any thread.

    def _cancel(self) -> None:
        if self._waiting_for is not None:
            self._waiting_for.cancel()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel_requests)

    def _cancel_requests(self) -> None:
        for asked in self._asked.values():
            asked.speaking.cancel()


def _retrieve_exception(speaking: asyncio.Task[Waveform]) -> None:
    """Prevent asyncio from logging a failure that is raised later, or not needed."""
    if not speaking.cancelled():
        speaking.exception()
