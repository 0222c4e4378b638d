"""Lines that the worker speaks for an export, one after the other."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Mapping

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.export.speech_source import ExportItem
from studio.pipeline.control import Cancelled, RequestControl
from studio.pipeline.request import AudioChunk, EngineDescription, SynthesisRequest
from studio.worker.client import WorkerClient
from studio.worker.running import Hooks


class WorkerSpeech:
    """A ``SpeechSource``. The client lives on ``loop``, whoever asks for sound on a thread of its own.

    ``requests`` by the keys of the items. ``on_loaded`` and ``on_spoken`` (seconds of the line so far)
    are called on whatever thread knows first.
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
        self._speaking: concurrent.futures.Future[Waveform] | None = None
        control.when_cancelled(self._cancel)

    def needs_speaking(self, item: ExportItem) -> bool:
        return item.key in self._requests

    def waveform_of(self, item: ExportItem) -> Waveform:
        self._control.raise_if_cancelled()
        speaking = asyncio.run_coroutine_threadsafe(self._speak(self._requests[item.key]), self._loop)
        self._speaking = speaking
        if self._control.is_cancelled:  # just now, before there was anything to cancel
            speaking.cancel()
        try:
            return speaking.result()
        except concurrent.futures.CancelledError:
            raise Cancelled from None

    async def _speak(self, request: SynthesisRequest) -> Waveform:
        await self._load()
        heard: list[Samples] = []
        num_samples = 0

        def take(chunk: AudioChunk) -> None:
            nonlocal num_samples
            heard.append(chunk.samples)
            num_samples += len(chunk.samples)
            self._on_spoken(num_samples / chunk.sample_rate)

        async with self._client.synthesize(request, hooks=Hooks(on_audio=take)) as running:
            report = await running.finished()
        if report is None:
            raise Cancelled
        return Waveform(np.concatenate([np.zeros(0, np.float32), *heard]), report.sample_rate)

    async def _load(self) -> None:
        """A model that cannot be loaded is not tried again for each of a thousand lines."""
        if self._load_failure is not None:
            raise self._load_failure
        try:
            description = await self._client.load()
        except StudioError as error:
            self._load_failure = error
            raise
        if not self._is_loaded:
            self._is_loaded = True
            self._on_loaded(description)

    def _cancel(self) -> None:
        if self._speaking is not None:
            self._speaking.cancel()
