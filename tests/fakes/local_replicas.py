"""Replicas in this process, which can be lost, and requests to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import noise_models
from running_service import fake_worker
from thread_worker import ThreadWorker

from studio.cluster.replica import Replica, TextFetcher
from studio.cluster.sent_requests import SentRequest
from studio.errors import WorkerDied
from studio.model.options import Quality
from studio.pipeline.request import EngineDescription, VoiceReference
from studio.text.arriving import Fragment
from studio.worker import protocol
from studio.worker.client import WorkerClient
from studio.worker.protocol import Event

CLIP = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"
VOICE = VoiceReference(CLIP, "What she said.", "anna")


class Stored:
    """Stored bytes that count how often they are fetched."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.num_fetched = 0

    def __await__(self) -> Generator[None, None, bytes]:
        self.num_fetched += 1
        yield
        return self.content


@dataclass
class LocalReplicas:
    """Replicas in this process, used in turn. The next one is lost after ``lost_after_chunks`` chunks, if it is set."""

    replicas: list[Replica]
    lost_after_chunks: int | None = None
    num_lost: int = 0
    stored: list[Stored] = field(default_factory=list)
    sent: list[SentRequest] = field(default_factory=list)
    fetch_text: TextFetcher | None = None  # of the backend

    async def describe(self) -> EngineDescription:
        return (await self.replicas[0].open(VOICE, Quality.FAST))[0]

    def put(self, content: bytes) -> Awaitable[bytes]:
        self.stored.append(Stored(content))
        return self.stored[-1]

    async def stream(self, sent: SentRequest) -> AsyncIterator[Event]:
        self.sent.append(sent)
        replica = self.replicas[(len(self.sent) - 1) % len(self.replicas)]
        num_chunks = 0
        async for event in replica.stream(sent, replica.file, self.fetch_text or _no_text):
            if isinstance(event, protocol.AudioReady):
                if num_chunks == self.lost_after_chunks:
                    self.lost_after_chunks = None
                    self.num_lost += 1
                    raise WorkerDied("A replica was lost.")
                num_chunks += 1
            yield event


async def _no_text(_text_id: str, _first: int) -> list[Fragment]:
    return []


def open_replicas(num_replicas: int) -> LocalReplicas:
    ThreadWorker.created.clear()
    return LocalReplicas(
        [Replica(WorkerClient(noise_models.V3, start_worker=fake_worker)) for _ in range(num_replicas)]
    )
