"""The workers of a cluster as one ``SpeechBackend``. Does not import Ray."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from studio.cluster.sent_requests import SentRequest, sent_clip, sent_file
from studio.errors import WorkerDied, from_record
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.text.arriving import ArrivingText, Fragment
from studio.worker import protocol
from studio.worker.protocol import Event
from studio.worker.request_events import follow
from studio.worker.request_handle import Callbacks, RequestHandle

_ANY_ID = 0
_POLL_SECONDS = 0.02


class Replicas(Protocol):
    """Calls to the replicas of a cluster."""

    async def describe(self) -> EngineDescription:
        """Wait until a replica has loaded the model, and return its description."""

    def put(self, content: bytes) -> Awaitable[bytes]:
        """Store ``content`` where every replica can read it."""

    def stream(self, sent: SentRequest) -> AsyncIterator[Event]:
        """Run a request in a replica that has its voice in memory, if there is one with a free slot.

        Raise ``WorkerDied`` if the replica or its computer is lost, and ``TooManyRequests`` if too many calls wait.
        """

    @property
    def num_lost(self) -> int:
        """The number of replicas that have been lost during a request."""


class ArrivingTexts:
    """The sentences of this process that are still being written. Replicas fetch their fragments."""

    def __init__(self) -> None:
        self._texts: dict[str, ArrivingText] = {}

    def add(self, text: ArrivingText) -> str:
        """Return the id of ``text``."""
        text_id = uuid.uuid4().hex
        self._texts[text_id] = text
        return text_id

    def remove(self, text_id: str) -> None:
        self._texts.pop(text_id, None)

    async def fragments(self, text_id: str, first: int) -> list[Fragment]:
        """Wait for fragments from number ``first`` on. Return an empty list if the sentence is not needed any more."""
        while (text := self._texts.get(text_id)) is not None:
            if found := text.fragments_from(first):
                return found
            await asyncio.sleep(_POLL_SECONDS)
        return []


class ClusterBackend:
    """Synthesizes in any replica of a cluster. ``num_lines`` is the total number of lines that they run at once."""

    def __init__(self, replicas: Replicas, *, num_lines: int) -> None:
        self._replicas = replicas
        self._num_lines = num_lines
        self.texts = ArrivingTexts()
        self._num_lost_workers = 0  # in replicas that still run

    async def load(self) -> EngineDescription:
        """Wait for the first replica. The returned ``max_concurrent_lines`` is the total over all replicas."""
        return replace(await self._replicas.describe(), max_concurrent_lines=self._num_lines)

    async def num_lost_workers(self) -> int:
        """Return how many replicas were lost, and how many lines lost a worker in a replica that replaced it."""
        return self._replicas.num_lost + self._num_lost_workers

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        text: ArrivingText | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a synthesis. ``text`` is as in ``WorkerClient.synthesize``; ``in_batch`` has no effect: replicas have no interactive requests."""
        del in_batch

        async def sent() -> SentRequest:
            clip = await asyncio.to_thread(sent_clip, request.voice.clip, self._replicas.put)
            command = protocol.Synthesize(_ANY_ID, request, text_arrives=text is not None)
            return SentRequest(command, clip, reports_progress=_wants_progress(hooks), text_id=text_id)

        text_id = "" if text is None else self.texts.add(text)
        handle = follow(self._events(sent()), hooks)
        handle.when_over(partial(self.texts.remove, text_id))
        return handle

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        async def sent() -> SentRequest:
            clip = await asyncio.to_thread(sent_clip, request.voice.clip, self._replicas.put)
            source = await asyncio.to_thread(sent_file, request.source, self._replicas.put)
            return SentRequest(protocol.Convert(_ANY_ID, request), clip, source, _wants_progress(hooks))

        return follow(self._events(sent()), hooks)

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary:
        """Prepare a voice in one replica. Progress is not reported."""
        del on_progress
        clip = await asyncio.to_thread(sent_clip, voice.clip, self._replicas.put)
        event = await self._call(SentRequest(protocol.PrepareVoice(_ANY_ID, voice), clip))
        assert isinstance(event, protocol.VoiceReady)
        return event.summary

    async def spell_out(self, text: str, language: str = "") -> str:
        event = await self._call(SentRequest(protocol.NormalizeText(_ANY_ID, text, Path(), language)))
        assert isinstance(event, protocol.NormalizedText)
        return event.text

    async def _events(self, sent: Awaitable[SentRequest]) -> AsyncGenerator[Event, None]:
        async for event in self._replicas.stream(await sent):
            if isinstance(event, protocol.Finished):
                yield protocol.Finished(_ANY_ID, replace(event.report, max_concurrent_lines=self._num_lines))
            else:
                if isinstance(event, protocol.Failed) and event.error[0] == WorkerDied.code:
                    self._num_lost_workers += 1
                yield event

    async def _call(self, sent: SentRequest) -> Event:
        (event,) = [event async for event in self._replicas.stream(sent)]
        if isinstance(event, protocol.Failed):
            raise from_record(event.error)
        return event


def _wants_progress(hooks: Callbacks | None) -> bool:
    return hooks is not None and (hooks.on_progress is not None or hooks.on_start_time is not None)
