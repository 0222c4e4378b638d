"""Speech servers of other programs: audio in both forms, their voices, and what they cannot do."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from other_speech_server import SAMPLES, OtherSpeechServer, other_speech_server

from studio.audio.resampling import resample_steeply
from studio.errors import ConnectionLost, NotOnServer, ServerUnreachable, UnknownService
from studio.pipeline.request import ConversionRequest, SynthesisReport, SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.openai_worker import OpenAiWorker
from studio.remote.probing import OtherServer, probe, probe_other
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)
REQUEST = SynthesisRequest("Good evening.", VoiceReference(Path("no-file.wav"), None, "Anna"), speed=1.25)


def wav_header(rate: int, *, channels: int = 1, more: bytes = b"") -> bytes:
    form = struct.pack("<HHIIHH", 1, channels, rate, 2 * channels * rate, 2 * channels, 16)
    return b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack("<I", 16) + form + more + b"data\xff\xff\xff\xff"


@pytest.fixture
def server() -> Iterator[OtherSpeechServer]:
    with other_speech_server() as running:
        yield running


def client_of(server: OtherSpeechServer) -> WorkerClient:
    address = ServerAddress(server.url, model="speech-1", voice="nora", voices=("nora", "anna"))
    return WorkerClient(Path("unused"), start_worker=lambda: OpenAiWorker(address))


def spoken(server: OtherSpeechServer, request: SynthesisRequest = REQUEST) -> tuple[np.ndarray, SynthesisReport]:
    async def run() -> tuple[np.ndarray, SynthesisReport]:
        async with client_of(server) as client:
            assert (await client.load()).model_name == "speech-1"
            handle = client.synthesize(request)
            samples = np.concatenate([chunk.samples async for chunk in handle])
            report = await handle.finished()
            assert report is not None
            return samples, report

    return asyncio.run(run())


@pytest.mark.parametrize(
    "header", [b"", wav_header(24_000), wav_header(24_000, more=b"LIST" + struct.pack("<I", 3) + b"abc\0")]
)
def test_its_audio_is_passed_on_exactly(server: OtherSpeechServer, header: bytes) -> None:
    server.header = header
    samples, report = spoken(server)
    assert np.array_equal(samples, SAMPLES / np.float32(32_768))
    assert report.audio_seconds == 1.0
    assert report.evidence == ()
    assert server.requests == [
        {"model": "speech-1", "input": "Good evening.", "voice": "anna", "response_format": "pcm", "speed": 1.25}
    ]


def test_other_voices_are_replaced_and_instructions_sent(server: OtherSpeechServer) -> None:
    spoken(server, replace(REQUEST, voice=VoiceReference(Path("x.wav"), None, "Berta"), instruct="whisper"))
    assert server.requests[0]["voice"] == "nora"
    assert server.requests[0]["instructions"] == "whisper"


def test_what_it_cannot_do_is_said(server: OtherSpeechServer) -> None:
    async def run() -> None:
        async with client_of(server) as client:
            with pytest.raises(NotOnServer, match="styles"):
                await client.synthesize(replace(REQUEST, preset="emotion.happy")).finished()
            with pytest.raises(NotOnServer, match="conversion"):
                await client.convert(ConversionRequest(Path("x.wav"), REQUEST.voice)).finished()
            assert await client.spell_out("40") == "40"

    asyncio.run(run())
    server.header = wav_header(24_000, channels=2)
    with pytest.raises(NotOnServer, match="16-bit mono"):
        spoken(server)
    server.header, server.kind = b"", "audio/pcm;rate=12"
    with pytest.raises(NotOnServer, match="16-bit mono"):
        spoken(server)


@pytest.mark.parametrize(
    ("header", "kind"), [(wav_header(44_100), "audio/wav"), (b"", "audio/pcm; rate=44100; channels=1")]
)
def test_audio_at_another_rate_is_resampled(server: OtherSpeechServer, header: bytes, kind: str) -> None:
    server.header, server.kind = header, kind
    samples, report = spoken(server)
    expected = resample_steeply(SAMPLES / np.float32(32_768), 44_100, 24_000)
    assert len(samples) == pytest.approx(len(expected), abs=1)
    common = min(len(samples), len(expected))
    np.testing.assert_allclose(samples[:common], expected[:common], atol=1e-5)
    assert report.sample_rate == 24_000
    assert report.audio_seconds == pytest.approx(24_000 / 44_100, abs=1e-4)


def test_a_broken_line_fails_and_is_not_taken_for_whole(server: OtherSpeechServer) -> None:
    server.num_bytes = 20_000
    with pytest.raises(ConnectionLost):
        spoken(server)


def test_models_and_voices_are_found(server: OtherSpeechServer) -> None:
    address = ServerAddress(server.url)
    with pytest.raises(UnknownService):
        probe(address, None)
    assert probe_other(address, None) == OtherServer(("speech-1",), ("nora", "anna"))
    with pytest.raises(ServerUnreachable):
        probe_other(ServerAddress("http://127.0.0.1:9"), None)
