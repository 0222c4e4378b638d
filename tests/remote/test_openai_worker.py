"""Speech servers of other programs: recorded answers, other forms of audio, and what such servers cannot do."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from other_speech_server import (
    ANSWERS,
    RECORDED_REQUEST,
    SAMPLES,
    OtherSpeechServer,
    other_speech_server,
    speech_answer,
)

from studio.audio.resampling import resample_steeply
from studio.errors import ConnectionLost, NotOnServer, ServerRefused, ServerUnreachable, UnknownService
from studio.pipeline.request import ConversionRequest, SynthesisReport, SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.openai_worker import OpenAiWorker
from studio.remote.probing import OtherServer, probe, probe_other
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)
REQUEST = SynthesisRequest("Good evening.", VoiceReference(Path("no-file.wav"), None, "Am_Adam"), speed=1.25)
VOICES = ("af_heart", "af_bella", "am_adam")


def wav_header(rate: int, *, channels: int = 1, more: bytes = b"") -> bytes:
    form = struct.pack("<HHIIHH", 1, channels, rate, 2 * channels * rate, 2 * channels, 16)
    return b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack("<I", 16) + form + more + b"data\xff\xff\xff\xff"


@pytest.fixture
def server() -> Iterator[OtherSpeechServer]:
    with other_speech_server() as running:
        yield running


def client_of(server: OtherSpeechServer) -> WorkerClient:
    address = ServerAddress(server.url, model="kokoro", voice="af_heart", voices=VOICES)
    return WorkerClient(Path("unused"), start_worker=lambda: OpenAiWorker(address))


def spoken(
    server: OtherSpeechServer, request: SynthesisRequest = REQUEST, pieces: AsyncIterator[str] | None = None
) -> tuple[np.ndarray, SynthesisReport]:
    async def run() -> tuple[np.ndarray, SynthesisReport]:
        async with client_of(server) as client:
            assert (await client.load()).model_name == "kokoro"
            handle = client.synthesize(request, pieces=pieces)
            samples = np.concatenate([chunk.samples async for chunk in handle])
            report = await handle.finished()
            assert report is not None
            return samples, report

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "header_bytes"),
    [
        (ANSWERS["POST /v1/audio/speech"], 0),
        (ANSWERS["wav"], 44),
        (speech_answer("audio/wav", wav_header(24_000, more=b"LIST\3\0\0\0abc\0") + SAMPLES.tobytes()), 56),
    ],
)
def test_its_audio_is_passed_on_exactly(server: OtherSpeechServer, answer: bytes, header_bytes: int) -> None:
    server.speech = answer
    samples, report = spoken(server)
    sent = np.frombuffer(answer.partition(b"\r\n\r\n")[2][header_bytes:], "<i2")
    assert np.array_equal(samples, sent / np.float32(32_768))
    assert report.audio_seconds == 0.25
    assert report.evidence == ()
    assert server.requests == [RECORDED_REQUEST]


def test_other_voices_are_replaced_and_instructions_sent(server: OtherSpeechServer) -> None:
    spoken(server, replace(REQUEST, voice=VoiceReference(Path("x.wav"), None, "Berta"), instruct="whisper"))
    assert server.requests[0]["voice"] == "af_heart"
    assert server.requests[0]["instructions"] == "whisper"


def test_text_that_arrives_is_spoken_sentence_by_sentence(server: OtherSpeechServer) -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ("This is the first ", "sentence. And", " this is the second one.", " * * *"):
            yield piece

    samples, report = spoken(server, pieces=pieces())
    assert len(samples) == 2 * len(SAMPLES)
    sentences = [request["input"] for request in server.requests]
    assert sentences == ["This is the first sentence.", " And this is the second one."]
    assert report.spoken_text == tuple(sentences)


def test_what_it_cannot_do_is_said(server: OtherSpeechServer) -> None:
    async def run() -> None:
        async with client_of(server) as client:
            with pytest.raises(NotOnServer, match="styles"):
                await client.synthesize(replace(REQUEST, preset="emotion.happy")).finished()
            with pytest.raises(NotOnServer, match="conversion"):
                await client.convert(ConversionRequest(Path("x.wav"), REQUEST.voice)).finished()
            assert await client.spell_out("40") == "40"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("kind", "header"),
    [("audio/wav", wav_header(24_000, channels=2)), ("audio/pcm;rate=12", b""), ("audio/wav", b"RIFF")],
)
def test_audio_of_another_form_is_refused(server: OtherSpeechServer, kind: str, header: bytes) -> None:
    server.speech = speech_answer(kind, header + SAMPLES.tobytes())
    with pytest.raises(NotOnServer, match="16-bit mono"):
        spoken(server)


@pytest.mark.parametrize(
    ("header", "kind"), [(wav_header(44_100), "audio/wav"), (b"", "audio/pcm; rate=44100; channels=1")]
)
def test_audio_at_another_rate_is_resampled(server: OtherSpeechServer, header: bytes, kind: str) -> None:
    server.speech = speech_answer(kind, header + SAMPLES.tobytes())
    samples, report = spoken(server)
    expected = resample_steeply(SAMPLES / np.float32(32_768), 44_100, 24_000)
    assert len(samples) == pytest.approx(len(expected), abs=1)
    common = min(len(samples), len(expected))
    np.testing.assert_allclose(samples[:common], expected[:common], atol=1e-5)
    assert report.sample_rate == 24_000
    assert report.audio_seconds == pytest.approx(6_000 / 44_100, abs=1e-4)


def test_a_broken_line_fails_and_is_not_taken_for_whole(server: OtherSpeechServer) -> None:
    server.speech = server.speech[:8_000]
    with pytest.raises(ConnectionLost):
        spoken(server)


def test_a_refusal_is_an_error(server: OtherSpeechServer) -> None:
    server.speech = ANSWERS["refused"]
    with pytest.raises(ServerRefused, match="status 400"):
        spoken(server)


def test_models_and_voices_are_found(server: OtherSpeechServer) -> None:
    address = ServerAddress(server.url)
    with pytest.raises(UnknownService):
        probe(address, None)
    assert probe_other(address, None) == OtherServer(("kokoro",), VOICES)
    with pytest.raises(ServerUnreachable):
        probe_other(ServerAddress("http://127.0.0.1:9"), None)
