"""One replica: a worker with its model, and the files of its voices. Does not know Ray."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from studio.cluster.sent_requests import ReceivedFiles, SentFile, SentRequest
from studio.errors import StudioError
from studio.pipeline.request import AudioChunk, EngineDescription, SynthesisRequest, VoiceReference, VoiceSummary
from studio.worker import protocol
from studio.worker.client import WorkerClient
from studio.worker.protocol import Event
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

# The length of a voice's clip for which the number of warm voices is computed. Most clips are shorter.
_LONG_CLIP_SECONDS = 10.0
_ANY_ID = 0

VoiceLoader = Callable[[SentFile], Awaitable[Path]]


class Replica:
    """A worker that executes sent requests. ``client`` is closed by :meth:`close`."""

    def __init__(self, client: WorkerClient) -> None:
        self._client = client
        self._runs_batches = False
        self._folder = tempfile.TemporaryDirectory(prefix="timbre-cluster-")
        self._files = ReceivedFiles(Path(self._folder.name))

    async def open(self, voice: VoiceReference) -> tuple[EngineDescription, int]:
        """Load the model and prepare ``voice``. Return the description and the number of voices that memory holds.

        The prompt state of ``voice`` is measured, and a clip of ten seconds is assumed for the others. Raise
        ``StudioError``.
        """
        description = await self._client.load()
        self._runs_batches = description.max_concurrent_lines > 1
        summary = await self._client.prepare_voice(voice)
        return description, voices_in_memory(description, summary)

    async def close(self) -> None:
        await self._client.close()
        self._folder.cleanup()

    async def clip(self, sent: SentFile) -> Path:
        """Return the path of a clip, after fetching it if necessary."""
        return await self._files.path(sent)

    async def stream(self, sent: SentRequest, load_voice: VoiceLoader) -> AsyncIterator[Event]:
        """Yield the events of a request. The last one is ``Finished``, ``Failed`` or ``Cancelled``.

        ``load_voice`` returns the path of the clip of the voice. Ending the iteration cancels the request.
        """
        try:
            voice = replace(sent.request.voice, clip=await load_voice(sent.clip))
            source = None if sent.source is None else await self._files.path(sent.source)
            try:
                async for event in _events(
                    lambda hooks: self._begin(sent, voice, source, hooks), sent.reports_progress
                ):
                    yield event
            finally:
                if sent.source is not None:
                    self._files.remove(sent.source)
        except StudioError as error:
            yield protocol.Failed(_ANY_ID, error.to_record())

    async def prepare_voice(self, voice: VoiceReference, clip: SentFile, load_voice: VoiceLoader) -> Event:
        """Prepare a voice, and return ``VoiceReady`` or ``Failed``."""
        try:
            summary = await self._client.prepare_voice(replace(voice, clip=await load_voice(clip)))
        except StudioError as error:
            return protocol.Failed(_ANY_ID, error.to_record())
        return protocol.VoiceReady(_ANY_ID, summary)

    async def spell_out(self, text: str) -> Event:
        """Return ``NormalizedText`` or ``Failed``."""
        try:
            return protocol.NormalizedText(_ANY_ID, await self._client.spell_out(text))
        except StudioError as error:
            return protocol.Failed(_ANY_ID, error.to_record())

    async def num_lost_workers(self) -> int:
        return await self._client.num_lost_workers()

    def _begin(self, sent: SentRequest, voice: VoiceReference, source: Path | None, hooks: Callbacks) -> RequestHandle:
        if isinstance(sent.request, SynthesisRequest):
            request = replace(sent.request, voice=voice)
            return self._client.synthesize(request, hooks=hooks, in_batch=self._runs_batches)
        assert source is not None
        return self._client.convert(replace(sent.request, voice=voice, source=source), hooks=hooks)


def voices_in_memory(description: EngineDescription, summary: VoiceSummary) -> int:
    """Return how many prompt states fit into the memory for voices, from the state of one voice; at least one."""
    if not summary.state_bytes or not summary.clip_seconds:
        return 1
    bytes_of_long_clip = summary.state_bytes * max(1.0, _LONG_CLIP_SECONDS / summary.clip_seconds)
    return max(1, int(description.voice_memory_bytes / bytes_of_long_clip))


async def _events(begin: Callable[[Callbacks], RequestHandle], reports_progress: bool) -> AsyncIterator[Event]:
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def on_audio(chunk: AudioChunk) -> None:
        loop.call_soon_threadsafe(events.put_nowait, protocol.AudioReady(_ANY_ID, chunk))

    def on_progress(stage: str, share: float) -> None:
        events.put_nowait(protocol.Progress(_ANY_ID, stage, share))

    def on_start_time(start: StartTime) -> None:
        seconds_from_now = start.loop_time - loop.time()
        events.put_nowait(protocol.PlaybackStartEstimate(_ANY_ID, start.seconds_after_start, seconds_from_now))

    hooks = Callbacks(on_audio, on_progress, on_start_time) if reports_progress else Callbacks(on_audio)
    async with begin(hooks) as handle:
        handle.when_over(lambda: events.put_nowait(None))
        while (event := await events.get()) is not None:
            yield event
        report = await handle.finished()
    yield protocol.Cancelled(_ANY_ID) if report is None else protocol.Finished(_ANY_ID, report)
