"""One replica: a worker with its model, and the files of its voices. Does not know Ray."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from studio.cluster.sent_requests import SentFile, SentRequest, received_file
from studio.errors import StudioError
from studio.model.options import Quality
from studio.pipeline.request import EngineDescription, VoiceReference, VoiceSummary
from studio.serve.backend import warm_up
from studio.text.arriving import ArrivingText, Fragment
from studio.worker import protocol
from studio.worker.client import WorkerClient
from studio.worker.protocol import Event
from studio.worker.request_events import request_events
from studio.worker.request_handle import Callbacks, RequestHandle

# The length of a voice's clip for which the number of warm voices is computed. Most clips are shorter.
_LONG_CLIP_SECONDS = 10.0
_ANY_ID = 0

TextFetcher = Callable[[str, int], Awaitable[list[Fragment]]]
VoiceLoader = Callable[[SentFile], Awaitable[Path]]


class Replica:
    """A worker that executes sent requests. ``client`` is closed by :meth:`close`."""

    def __init__(self, client: WorkerClient) -> None:
        self._client = client
        self._runs_batches = False
        self._folder = tempfile.TemporaryDirectory(prefix="timbre-cluster-")

    async def open(self, voice: VoiceReference, quality: Quality) -> tuple[EngineDescription, int]:
        """Load the model and warm it up. Return the description and the number of voices that memory holds.

        The prompt state of ``voice`` is measured, and a clip of ten seconds is assumed for the others. Raise
        ``StudioError``.
        """
        description = await self._client.load()
        self._runs_batches = description.max_concurrent_lines > 1
        summary = await self._client.prepare_voice(voice)
        await warm_up(self._client, voice, quality, in_batch=self._runs_batches)
        return description, voices_in_memory(description, summary)

    async def close(self) -> None:
        await self._client.close()
        self._folder.cleanup()

    async def file(self, sent: SentFile) -> Path:
        """Return the path of a file that was sent, after fetching it if necessary."""
        return await received_file(sent, Path(self._folder.name))

    async def stream(self, sent: SentRequest, load_voice: VoiceLoader, fetch_text: TextFetcher) -> AsyncIterator[Event]:
        """Yield the events of a request. ``Failed`` is the last event of a request that fails.

        ``load_voice`` returns the path of the clip of the voice, and ``fetch_text`` the fragments of a sentence that is
        still being written, from a number on. Ending the iteration cancels the request.
        """
        source, arriving, fetching = None, None, None
        try:
            if sent.text_id:
                arriving = ArrivingText()
                fetching = asyncio.create_task(_fetch(arriving, partial(fetch_text, sent.text_id)))
            clip = Path() if sent.clip is None else await load_voice(sent.clip)
            source = None if sent.source is None else await self.file(sent.source)
            match sent.command:
                case protocol.NormalizeText(_, text, _, language):
                    yield protocol.NormalizedText(_ANY_ID, await self._client.spell_out(text, language))
                case protocol.PrepareVoice(_, voice):
                    yield protocol.VoiceReady(_ANY_ID, await self._client.prepare_voice(replace(voice, clip=clip)))
                case command:
                    started = request_events(
                        lambda hooks: self._begin(command, clip, source, arriving, hooks),
                        reports_progress=sent.reports_progress,
                    )
                    async with contextlib.aclosing(started) as events:
                        async for event in events:
                            yield event
        except StudioError as error:
            yield protocol.Failed(_ANY_ID, error.to_record())
        finally:
            if fetching is not None:
                fetching.cancel()
            if source is not None:
                source.unlink(missing_ok=True)

    def _begin(
        self,
        command: protocol.Synthesize | protocol.Convert,
        clip: Path,
        source: Path | None,
        text: ArrivingText | None,
        hooks: Callbacks,
    ) -> RequestHandle:
        voice = replace(command.request.voice, clip=clip)
        if isinstance(command, protocol.Synthesize):
            request = replace(command.request, voice=voice)
            return self._client.synthesize(request, text=text, hooks=hooks, in_batch=self._runs_batches)
        assert source is not None
        return self._client.convert(replace(command.request, voice=voice, source=source), hooks=hooks)


async def _fetch(text: ArrivingText, fetch: Callable[[int], Awaitable[list[Fragment]]]) -> None:
    while not text.is_complete and (fragments := await fetch(text.num_fragments)):
        for fragment in fragments:
            text.add(fragment)


def voices_in_memory(description: EngineDescription, summary: VoiceSummary) -> int:
    """Return how many prompt states fit into the memory for voices, from the state of one voice; at least one."""
    if not summary.state_bytes or not summary.clip_seconds:
        return 1
    bytes_of_long_clip = summary.state_bytes * max(1.0, _LONG_CLIP_SECONDS / summary.clip_seconds)
    return max(1, int(description.voice_memory_bytes / bytes_of_long_clip))
