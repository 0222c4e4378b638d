"""The Triton runtime of CosyVoice: what is sent, audio as it comes, broken streams, and what it cannot do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tritonclient.grpc", reason="the extra triton is not installed")

from triton_server import CHUNK_SAMPLES, STREAM, TritonServer, triton_server
from waiting import wait_until

from studio.audio.files import read_audio
from studio.errors import (
    ConnectionLost,
    IncompleteInstallation,
    NotOnServer,
    ServerRefused,
    ServerUnreachable,
    StudioError,
    UnknownService,
)
from studio.pipeline.request import ConversionRequest, SynthesisReport, SynthesisRequest, VoiceReference
from studio.remote import triton_wire
from studio.remote.address import ServerAddress
from studio.remote.open_worker import open_worker
from studio.remote.probing import OtherServer, probe_other
from studio.storage.token_file import write_token
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def triton() -> Iterator[TritonServer]:
    with triton_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.remote.line_request._RETRY_SECONDS", (0.0, 0.0))


@pytest.fixture
def request_(clip: Path) -> SynthesisRequest:
    return SynthesisRequest("One two three.", VoiceReference(clip, "Said 2 words.", "Anna"))


def client_of(server: TritonServer, token_file: Path | None = None) -> WorkerClient:
    address = ServerAddress(server.url, token_file, model="cosyvoice2")
    return WorkerClient(Path("unused"), start_worker=lambda: open_worker(address))


def spoken(client: WorkerClient, request: SynthesisRequest) -> tuple[np.ndarray, SynthesisReport]:
    async def run() -> tuple[np.ndarray, SynthesisReport]:
        async with client:
            description = await client.load()
            assert (description.model_name, description.sample_rate) == ("cosyvoice2", 24_000)
            handle = client.synthesize(request)
            samples = np.concatenate([chunk.samples async for chunk in handle])
            report = await handle.finished()
            assert report is not None
            return samples, report

    return asyncio.run(run())


def words(number: int) -> np.ndarray:
    """The speech of a sentence of ``number`` words."""
    return np.repeat(0.1 * np.arange(1, number + 1), CHUNK_SAMPLES).astype(np.float32)


def test_a_stream_that_was_recorded_from_triton_is_read() -> None:
    responses = [answer.infer_response for answer in STREAM]
    assert np.array_equal(np.concatenate(list(map(triton_wire.read_samples, responses))), words(3))
    assert list(map(triton_wire.is_final, responses)) == [False, False, False, True]


@pytest.mark.parametrize("is_decoupled", [True, False])
def test_voice_and_text_are_sent_and_the_audio_is_passed_on_exactly(
    triton: TritonServer, request_: SynthesisRequest, is_decoupled: bool
) -> None:
    triton.is_decoupled = is_decoupled
    samples, report = spoken(client_of(triton), replace(request_, seed=7))
    assert np.array_equal(samples, words(3))
    assert report.audio_seconds == pytest.approx(0.3)
    assert report.spoken_text == ("One two three.",)
    assert report.network_seconds is None
    (heard,) = triton.requests
    reference = read_audio(request_.voice.clip).resampled(16_000).samples
    assert np.array_equal(heard.reference, reference)
    assert heard.length == reference.size
    assert (heard.model, heard.transcript, heard.text) == ("cosyvoice2", "Said two words.", "One two three.")
    assert "authorization" not in heard.metadata


def test_audio_is_played_as_it_comes_and_a_cancelled_line_is_cancelled_there(
    triton: TritonServer, request_: SynthesisRequest
) -> None:
    triton.holds_after = 2

    async def run() -> None:
        async with client_of(triton) as client:
            await client.load()
            async with client.synthesize(request_) as handle:
                first = [(await anext(handle)).samples for _ in range(2)]
                assert np.array_equal(np.concatenate(first), words(2))
            await asyncio.to_thread(wait_until, lambda: triton.num_cancelled)

    asyncio.run(run())


def test_long_texts_are_split_and_normalized_here_and_pauses_inserted(
    triton: TritonServer, request_: SynthesisRequest
) -> None:
    long = " ".join(["The harbour was quiet that morning, and nobody spoke."] * 12)
    samples, report = spoken(client_of(triton), replace(request_, text=f"We waited 40 years. [pause 0.5] {long}"))
    texts = [heard.text for heard in triton.requests]
    assert texts[0] == "We waited forty years."
    assert len(texts) > 2
    assert all(len(text) < 600 for text in texts)
    assert " ".join(texts[1:]) == long
    pause = samples[4 * CHUNK_SAMPLES :][:12_000]
    assert not pause.any()
    assert report.audio_seconds == pytest.approx(0.5 + 0.1 * sum(len(text.split()) for text in texts))


def test_text_that_arrives_is_spoken_sentence_by_sentence(triton: TritonServer, request_: SynthesisRequest) -> None:
    plays = asyncio.Event()

    async def pieces() -> AsyncIterator[str]:
        yield "One two three. Four"
        await plays.wait()
        yield " five six."

    async def run() -> None:
        async with client_of(triton) as client:
            async for _ in client.synthesize(replace(request_, text=""), pieces=pieces()):
                plays.set()

    asyncio.run(run())
    assert [heard.text for heard in triton.requests] == ["One two three.", "Four five six."]


def test_the_speed_is_applied_here(triton: TritonServer, request_: SynthesisRequest) -> None:
    samples, report = spoken(client_of(triton), replace(request_, speed=1.25))
    assert len(samples) == round(3 * CHUNK_SAMPLES / 1.25)
    assert report.audio_seconds == pytest.approx(0.24)


@pytest.mark.parametrize("breaks", [[0], [2], [1, 2]])
def test_a_broken_stream_is_requested_again_and_nothing_is_lost(
    triton: TritonServer, request_: SynthesisRequest, breaks: list[int]
) -> None:
    triton.breaks = breaks.copy()
    samples, _ = spoken(client_of(triton), request_)
    assert np.array_equal(samples, words(3))
    assert len(triton.requests) == len(breaks) + 1


def test_a_line_that_stays_broken_or_is_spoken_differently_is_lost(
    triton: TritonServer, request_: SynthesisRequest
) -> None:
    triton.breaks = [2] * 9
    with pytest.raises(ConnectionLost, match="closed the connection in the middle"):
        spoken(client_of(triton), request_)
    triton.breaks, triton.is_noisy = [2], True
    with pytest.raises(ConnectionLost, match="closed the connection in the middle"):
        spoken(client_of(triton), request_)
    triton.breaks = [0] * 9
    with pytest.raises(ServerUnreachable, match="cannot be reached"):
        spoken(client_of(triton), request_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"preset": "emotion.happy"}, "neither styles"),
        ({"instruct": "whisper"}, "neither styles"),
        ({"voice": VoiceReference(Path("voice.safetensors"), "Words.", "Berta")}, "Berta lacks one"),
        ({"transcript": None}, "needs a recording and its transcript"),
        ({"transcript": " "}, "needs a recording and its transcript"),
    ],
)
def test_what_it_cannot_do_is_said(
    triton: TritonServer, request_: SynthesisRequest, change: dict[str, Any], words: str
) -> None:
    if "transcript" in change:
        change = {"voice": replace(request_.voice, **change)}
    with pytest.raises(NotOnServer, match=words):
        spoken(client_of(triton), replace(request_, **change))
    assert triton.requests == []


def test_voices_are_checked_and_texts_spelled_out_without_the_server(
    triton: TritonServer, request_: SynthesisRequest
) -> None:
    async def run() -> None:
        async with client_of(triton) as client:
            assert (await client.prepare_voice(request_.voice)).clip_seconds == pytest.approx(4.0)
            with pytest.raises(NotOnServer, match="transcript"):
                await client.prepare_voice(replace(request_.voice, transcript=None))
            assert await client.spell_out("40") == "forty."
            with pytest.raises(NotOnServer, match="conversion"):
                await client.convert(ConversionRequest(request_.voice.clip, request_.voice)).finished()

    asyncio.run(run())
    assert triton.requests == []


@pytest.mark.parametrize(
    ("fault", "kind", "error"),
    [("LLM generated no speech tokens", "FP32", ServerRefused), ("", "INT16", NotOnServer)],
)
def test_a_failure_there_is_said(
    triton: TritonServer, request_: SynthesisRequest, fault: str, kind: str, error: type[StudioError]
) -> None:
    triton.fault, triton.kind = fault, kind
    with pytest.raises(error, match=fault or "float32"):
        spoken(client_of(triton), request_)


def test_the_token_is_sent_for_a_proxy(request_: SynthesisRequest, tmp_path: Path) -> None:
    with triton_server(token="secret") as triton:
        with pytest.raises(ServerRefused, match="token"):
            spoken(client_of(triton), request_)
        write_token(tmp_path / "token", "secret")
        samples, _ = spoken(client_of(triton, tmp_path / "token"), request_)
        assert np.array_equal(samples, words(3))


def test_models_that_speak_are_found() -> None:
    with triton_server(models=("cosyvoice3", "audio_tokenizer", "cosyvoice2_dit")) as triton:
        address = ServerAddress(triton.url)
        assert probe_other(address, None) == OtherServer(("cosyvoice3", "cosyvoice2_dit"))
    with pytest.raises(ServerUnreachable, match="cannot be reached"):
        probe_other(address, None)


def test_a_server_that_hides_its_models_is_asked_for_known_names() -> None:
    with triton_server(lists_models=False, models=("cosyvoice2",)) as triton:
        assert probe_other(ServerAddress(triton.url), None) == OtherServer(("cosyvoice2",))
    with triton_server(models=("audio_tokenizer",)) as triton, pytest.raises(UnknownService, match="no model"):
        probe_other(ServerAddress(triton.url), None)


def test_a_model_that_is_gone_is_said(request_: SynthesisRequest) -> None:
    with (
        triton_server(models=("cosyvoice3",)) as triton,
        pytest.raises(NotOnServer, match="no speech model named cosyvoice2"),
    ):
        spoken(client_of(triton), request_)


def test_a_missing_package_is_said_with_the_command(
    request_: SynthesisRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tritonclient.grpc", None)
    with pytest.raises(IncompleteInstallation, match=r"pip install.*triton"):
        probe_other(ServerAddress("grpc://127.0.0.1:9"), None)
