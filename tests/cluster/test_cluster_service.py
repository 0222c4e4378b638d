"""The service of a cluster: a new voice is prepared before its first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import noise_models
import pytest
from fake_checks import FakeChecks
from local_replicas import CLIP, open_replicas

from studio.cluster.backend import ClusterBackend
from studio.cluster.sent_requests import SentRequest
from studio.cluster.service import ClusterService
from studio.errors import StudioError, UnreadableClip, WorkerDied
from studio.serve.access import AccessRules
from studio.serve.application import create_application
from studio.serve.service import ServiceOptions
from studio.voices.library import VoiceLibrary
from studio.worker import protocol
from studio.worker.protocol import Event

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("error", [None, UnreadableClip("It cannot be read."), WorkerDied("A replica was lost.")])
def test_a_voice_that_is_added_is_prepared_in_a_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: StudioError | None
) -> None:
    monkeypatch.setattr("studio.cluster.service._PLACEMENT_SECONDS", 0.0)
    replicas = open_replicas(1)
    run = replicas.stream
    prepared: list[str] = []

    async def stream(sent: SentRequest) -> AsyncIterator[Event]:
        assert isinstance(sent.command, protocol.PrepareVoice)
        prepared.append(sent.command.voice.name)
        if error is not None:
            raise error
        async for event in run(sent):
            yield event

    replicas.stream = stream  # type: ignore[method-assign]

    async def add() -> httpx2.Response:
        backend = ClusterBackend(replicas, num_lines=1)
        library = VoiceLibrary(tmp_path / "voices")
        service = ClusterService(
            backend, ServiceOptions(noise_models.V3), open_library=lambda: library, open_checks=FakeChecks
        )
        await service.load()
        application = create_application(service, AccessRules(hosts=frozenset({"service"})))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(application), base_url="http://service") as client:
            files = {"audio_sample": ("clip.wav", CLIP.read_bytes())}
            answer = await client.post("/v1/audio/voices", data={"name": "Anna", "consent": "hers"}, files=files)
        await asyncio.gather(*service._preparing)
        service.close()
        await replicas.replicas[0].close()
        return answer

    answer = asyncio.run(add())
    assert answer.status_code == 201, answer.text
    assert prepared == ["Anna"]
