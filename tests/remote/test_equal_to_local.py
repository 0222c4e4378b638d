"""The bundled model through another computer: the samples, the evidence and the report of the local worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest
import running_service

from studio.catalog.built_in_speakers import open_voice_library
from studio.paths import resources
from studio.pipeline.request import SynthesisReport, SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.worker.client import WorkerClient
from studio.worker.process import WorkerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MODEL = resources() / "models" / "studio-mini"
TEXT = "The captain folded the map. Then he looked toward the distant shore, and smiled."


async def spoken(client: WorkerClient, request: SynthesisRequest, *pieces: str) -> tuple[np.ndarray, SynthesisReport]:
    async def arriving() -> AsyncIterator[str]:
        for piece in pieces:
            yield piece
            await asyncio.sleep(0.05)

    handle = client.synthesize(request, pieces=arriving() if pieces else None)
    samples = np.concatenate([chunk.samples async for chunk in handle])
    report = await handle.finished()
    assert report is not None
    return samples, report


def test_another_computer_speaks_as_this_one() -> None:
    library = open_voice_library()
    ada = library.get("Ada")
    voice = VoiceReference(ada.clip, ada.transcript, ada.name)
    requests = [
        SynthesisRequest(TEXT, voice, seed=11),
        SynthesisRequest(TEXT, voice, seed=12, speed=1.2, trims_leading_silence=True),
    ]

    async def run(url: str) -> None:
        server = ServerAddress(url)
        async with (
            WorkerClient(MODEL) as local,
            WorkerClient(MODEL, start_worker=lambda: RemoteWorker(server)) as remote,
        ):
            for request in requests:
                here, report_here = await spoken(local, request)
                there, report_there = await spoken(remote, request)
                assert np.array_equal(there, here)
                for one, other in zip(report_here.evidence, report_there.evidence, strict=True):
                    # The first request of a new model computes the attention after the take, and rounds otherwise.
                    assert replace(one, text_position=(), text_coverage=()) == replace(
                        other, text_position=(), text_coverage=()
                    )
                    assert other.text_position == pytest.approx(one.text_position, abs=0.05)
                    assert other.text_coverage == pytest.approx(one.text_coverage, abs=0.05)
                assert report_there.spoken_text == report_here.spoken_text
                assert report_there.network_seconds is not None
                assert report_there.first_audio_seconds >= report_there.network_seconds
            # Text that arrives in pieces, at another speed.
            request = SynthesisRequest("", voice, seed=13, speed=0.9)
            pieces = [TEXT[start : start + 7] for start in range(0, len(TEXT), 7)]
            here, _ = await spoken(local, request, *pieces)
            there, report_there = await spoken(remote, request, *pieces)
            assert np.array_equal(there, here)
            assert len(report_there.spoken_text) == 2

    with running_service.serve(library=library, folder=MODEL, start_worker=WorkerProcess) as running:
        asyncio.run(run(running.url))
