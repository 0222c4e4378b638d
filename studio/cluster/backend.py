"""The workers of a cluster as one ``SpeechBackend``. Does not know Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from studio.cluster.sent_requests import Sender, SentFile, SentRequest
from studio.errors import from_record
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.worker import protocol
from studio.worker.protocol import Event
from studio.worker.request_handle import Callbacks, RequestHandle

OnProgress = Callable[[str, float], None]


class Replicas(Protocol):
    """Calls to the replicas of a cluster.

    They raise ``WorkerDied`` if the replica or its computer is lost, and ``TooManyRequests`` if too many calls wait.
    """

    async def describe(self) -> EngineDescription:
        """Wait until a replica has loaded the model, and return its description."""

    def put(self, content: bytes) -> Awaitable[bytes]:
        """Store ``content`` where every replica can read it."""

    def stream(self, sent: SentRequest) -> AsyncIterator[Event]:
        """Run a request in a replica that has its voice in memory, if there is one with a free place."""

    async def prepare_voice(self, voice: VoiceReference, clip: SentFile) -> Event: ...

    async def spell_out(self, text: str) -> Event: ...

    @property
    def num_lost(self) -> int:
        """The number of replicas that have been lost during a request."""


class ClusterBackend:
    """Synthesizes in any replica of a cluster. ``num_lines`` is the number of lines that all of them run at once.

    Text that is still being written is sent when it is complete.
    """

    def __init__(self, replicas: Replicas, *, num_lines: int) -> None:
        self._replicas = replicas
        self._sender = Sender(replicas.put)
        self._num_lines = num_lines
        self._running: set[asyncio.Task[None]] = set()

    async def load(self) -> EngineDescription:
        """Wait for the first replica. ``max_concurrent_lines`` of the result is that of all replicas together."""
        return replace(await self._replicas.describe(), max_concurrent_lines=self._num_lines)

    async def num_lost_workers(self) -> int:
        return self._replicas.num_lost

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        pieces: AsyncIterable[str] | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a synthesis. ``in_batch`` has no effect: replicas have no interactive requests."""
        del in_batch

        async def sent() -> SentRequest:
            whole = request
            if pieces is not None:
                whole = replace(request, text="".join([piece async for piece in pieces]))
            clip = await asyncio.to_thread(self._sender.clip, whole.voice.clip)
            return SentRequest(whole, clip, reports_progress=_wants_progress(hooks))

        return self._begin(sent(), hooks)

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        async def sent() -> SentRequest:
            clip = await asyncio.to_thread(self._sender.clip, request.voice.clip)
            source = await asyncio.to_thread(self._sender.file, request.source)
            return SentRequest(request, clip, source, reports_progress=_wants_progress(hooks))

        return self._begin(sent(), hooks)

    async def prepare_voice(self, voice: VoiceReference, *, on_progress: OnProgress | None = None) -> VoiceSummary:
        """Prepare a voice in one replica. Progress is not reported."""
        del on_progress
        clip = await asyncio.to_thread(self._sender.clip, voice.clip)
        event = await self._replicas.prepare_voice(voice, clip)
        if isinstance(event, protocol.Failed):
            raise from_record(event.error)
        assert isinstance(event, protocol.VoiceReady)
        return event.summary

    async def spell_out(self, text: str) -> str:
        event = await self._replicas.spell_out(text)
        if isinstance(event, protocol.Failed):
            raise from_record(event.error)
        assert isinstance(event, protocol.NormalizedText)
        return event.text

    def _begin(self, sent: Awaitable[SentRequest], hooks: Callbacks | None) -> RequestHandle:
        handle = RequestHandle(hooks or Callbacks())
        task = asyncio.create_task(self._run(handle, sent))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        handle.when_over(task.cancel)
        return handle

    async def _run(self, handle: RequestHandle, sent: Awaitable[SentRequest]) -> None:
        try:
            async for event in self._replicas.stream(await sent):
                self._pass_on(handle, event)
        except asyncio.CancelledError:
            handle.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - raised again by the request's handle
            handle.end(error=error)
        handle.cancel()  # does nothing after the last event

    def _pass_on(self, handle: RequestHandle, event: Event) -> None:
        if isinstance(event, protocol.AudioReady) and handle.play(event.chunk):
            return
        if isinstance(event, protocol.Finished):
            event = protocol.Finished(event.request_id, replace(event.report, max_concurrent_lines=self._num_lines))
        handle.receive(event)


def _wants_progress(hooks: Callbacks | None) -> bool:
    return hooks is not None and (hooks.on_progress is not None or hooks.on_start_time is not None)
