"""Another computer speaks exactly as the local worker does, over connections that break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from breaking_proxy import breaking_proxy
from fake_model import CHUNK_SAMPLES, Chunks, FakeModel
from hub_server import HubServer
from running_service import RunningService, Serve
from thread_worker import ThreadWorker

from studio.errors import (
    ConnectionLost,
    NothingToSpeak,
    NotOnServer,
    ServerRefused,
    ServerUnreachable,
    UnknownService,
    UnknownVoice,
    UnreadableClip,
)
from studio.model.options import Quality, SamplingOptions
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    KnownTokens,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.remote.voice_files import clip_sha256
from studio.serve.received_voices import ReceivedVoices
from studio.serve.running import Address
from studio.storage.token_file import write_token
from studio.text.styles import load_styles
from studio.worker import protocol
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, StartTime

pytestmark = pytest.mark.timeout(120)
TEXT = "one two three four five six seven eight nine ten"


class Heard:
    """Everything that a request reports."""

    def __init__(self) -> None:
        self.chunks: list[AudioChunk] = []
        self.progress: list[tuple[str, float]] = []
        self.starts: list[StartTime] = []
        self.hooks = Callbacks(
            self.chunks.append, lambda stage, share: self.progress.append((stage, share)), self.starts.append
        )

    @property
    def samples(self) -> np.ndarray:
        return np.concatenate([chunk.samples for chunk in self.chunks])


def client_of(url: str, token_file: Path | None = None) -> WorkerClient:
    server = ServerAddress(url, token_file)
    return WorkerClient(Path("unused"), start_worker=lambda: RemoteWorker(server))


def request_with(clip: Path, text: str = TEXT) -> SynthesisRequest:
    return SynthesisRequest(text, VoiceReference(clip, "What Anna says.", "Anna"), seed=7)


def speak(client: WorkerClient, request: SynthesisRequest) -> tuple[Heard, SynthesisReport | None]:
    heard = Heard()

    async def run() -> SynthesisReport | None:
        async with client:
            return await client.synthesize(request, hooks=heard.hooks).finished()

    return heard, asyncio.run(run())


def local(request: SynthesisRequest) -> tuple[Heard, SynthesisReport | None]:
    return speak(WorkerClient(Path("fake"), start_worker=ThreadWorker), request)


def inaudible(report: SynthesisReport | None) -> SynthesisReport:
    """Return ``report`` without the times that the network changes."""
    assert report is not None
    return replace(
        report, first_audio_seconds=0, total_seconds=0, queue_seconds=None, network_seconds=None, network=None
    )


def test_the_window_gets_what_the_local_worker_gives(service: RunningService, clip: Path) -> None:
    request = request_with(clip)
    here, report_here = local(request)
    there, report_there = speak(client_of(service.url), request)
    assert [chunk.samples.tolist() for chunk in there.chunks] == [chunk.samples.tolist() for chunk in here.chunks]
    assert inaudible(report_there) == inaudible(report_here)
    assert report_there.evidence
    assert ("speech", 1.0) in there.progress
    assert there.starts[0].seconds_after_start == here.starts[0].seconds_after_start


def test_all_options_arrive(service: RunningService, models: list[FakeModel], clip: Path) -> None:
    request = SynthesisRequest(
        "one",
        VoiceReference(clip, None, "Anna"),
        preset="speed.fast",
        speed=1.25,
        seed=2**62,
        is_streaming=False,
        text_is_normalized=True,
        language="de-AT",
        sampling=SamplingOptions(0.7, 20, 9, 0.2),
        first_hop_tokens=12,
        is_played=False,
        trims_leading_silence=True,
        quality=Quality.DRAFT,
        known_tokens=(KnownTokens("one", (1, 2, 3)), KnownTokens("two", (4, 5, 6), (1, 2))),
    )
    speak(client_of(service.url), request)
    arrived = models[-1].requests[-1]
    assert replace(arrived, voice=request.voice) == request
    assert arrived.voice.name == "Anna"
    assert arrived.voice.clip.read_bytes() == clip.read_bytes()


def test_a_voice_is_sent_once(service: RunningService, clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posted: list[str] = []
    send = httpx2.AsyncClient.send

    async def counted(self: httpx2.AsyncClient, request: httpx2.Request, **options: object) -> httpx2.Response:
        posted.append(request.url.path)
        return await send(self, request, **options)

    monkeypatch.setattr(httpx2.AsyncClient, "send", counted)
    voice = clip.with_name("Berta.wav")
    voice.write_bytes(clip.read_bytes() + b"\0\0")
    for _ in range(2):
        speak(client_of(service.url), request_with(voice, "one"))
    assert sum("voices" in path for path in posted) == 1


def test_the_least_recently_used_voices_are_deleted(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    monkeypatch.setattr("studio.serve.received_voices._MAX_BYTES", 2.5 * clip.stat().st_size)
    voices, hashes = ReceivedVoices(), []
    for number in range(3):
        voice = tmp_path / f"{number}.wav"
        voice.write_bytes(clip.read_bytes() + bytes(number))
        hashes.append(clip_sha256(voice))
        voices.add(hashes[-1], voice)
        voices.find(hashes[0])  # the most recently used
    with pytest.raises(UnknownVoice):
        voices.find(hashes[1])
    assert voices.find(hashes[0]).exists()
    assert voices.find(hashes[2]).exists()


def test_nothing_but_audio_and_features_is_taken_as_a_voice(service: RunningService, tmp_path: Path) -> None:
    for name in ("voice.safetensors", "voice.wav", "voice.pt"):
        path = tmp_path / name
        path.write_bytes(b"\x80\x05cposix\nsystem\n")
        with pytest.raises(UnreadableClip):
            speak(client_of(service.url), request_with(path, "one"))


@pytest.mark.parametrize("limits", [[200], [3_000], [40_000], [30_000, 60_000], [90_000] * 3])
def test_a_broken_line_goes_on_where_it_was(service: RunningService, clip: Path, limits: list[int]) -> None:
    heard = Heard()

    async def run() -> SynthesisReport | None:
        with breaking_proxy(service.port) as proxy:
            async with client_of(proxy.url) as client:
                await client.prepare_voice(request_with(clip).voice)
                proxy.limits[:] = limits
                report = await client.synthesize(request_with(clip), hooks=heard.hooks).finished()
                assert proxy.num_broken == len(limits)
                return report

    report = asyncio.run(run())
    here, report_here = local(request_with(clip))
    assert np.array_equal(heard.samples, here.samples)
    assert inaudible(report) == inaudible(report_here)
    assert heard.progress.count(("connect", 0.0)) == len(limits)


def test_a_line_that_cannot_go_on_fails_and_the_next_one_works(
    service: RunningService, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.remote.line_request._RETRY_SECONDS", (0.0, 0.0))
    heard = Heard()

    async def run() -> None:
        with breaking_proxy(service.port) as proxy:
            async with client_of(proxy.url) as client:
                await client.prepare_voice(request_with(clip).voice)
                proxy.limits[:] = [40_000] * 3
                with pytest.raises(ConnectionLost, match="in the middle of the line"):
                    await client.synthesize(request_with(clip), hooks=heard.hooks).finished()
                assert await client.synthesize(request_with(clip), hooks=Heard().hooks).finished()

    asyncio.run(run())
    assert len(heard.samples) in range(3 * CHUNK_SAMPLES, 5 * CHUNK_SAMPLES)


def test_a_line_is_not_continued_by_another_engine(
    service: RunningService, models: list[FakeModel], clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    presets, stream_with = [None, "speed.fast"], models[-1].stream

    def stream(request: SynthesisRequest, **options: Any) -> Chunks:
        """Speak faster at the second attempt."""
        return stream_with(replace(request, preset=presets.pop(0)), **options)

    async def run() -> None:
        with breaking_proxy(service.port) as proxy:
            async with client_of(proxy.url) as client:
                await client.prepare_voice(request_with(clip).voice)
                proxy.limits[:] = [40_000]
                monkeypatch.setattr(models[-1], "stream", stream)
                with pytest.raises(ConnectionLost, match="changed its engine"):
                    await client.synthesize(request_with(clip), hooks=Heard().hooks).finished()

    asyncio.run(run())


def test_cancelling_stops_the_other_computer(service: RunningService, clip: Path) -> None:
    async def run() -> None:
        async with client_of(service.url) as client:
            speaking = client.synthesize(request_with(clip, "one wait two"))
            async for _ in speaking:
                break
            speaking.cancel()
            assert await speaking.finished() is None
            async with asyncio.timeout(30):
                while service.service.queue.num_running:
                    await asyncio.sleep(0.01)

    asyncio.run(run())


def test_errors_keep_their_code_and_remedy(service: RunningService, clip: Path) -> None:
    with pytest.raises(NothingToSpeak) as raised:
        speak(client_of(service.url), request_with(clip, "one nothing"))
    assert str(raised.value.remedy) == "Write a word."


def test_voices_are_prepared_recordings_converted_and_texts_spelled(
    service: RunningService, models: list[FakeModel], clip: Path
) -> None:
    voice = VoiceReference(clip, None, "Anna")
    stages: list[str] = []

    async def run() -> None:
        async with client_of(service.url) as client:
            summary = await client.prepare_voice(voice, on_progress=lambda stage, _: stages.append(stage))
            assert summary.warnings == ("a little quiet",)
            handle = client.convert(ConversionRequest(clip, voice, seed=3))
            samples = np.concatenate([chunk.samples async for chunk in handle])
            assert len(samples) == 2 * CHUNK_SAMPLES
            assert models[-1].requests[-1].seed == 3
            assert "forty" in await client.spell_out("40 ships")
            assert "vierzig" in await client.spell_out("40", "de")

    asyncio.run(run())
    assert stages == ["voice", "voice"]


def test_words_of_recordings_are_not_replaced_on_another_computer(service: RunningService, clip: Path) -> None:
    async def run() -> None:
        async with client_of(service.url) as client:
            await client.read_recording(request_with(clip, "one two"), clip)

    with pytest.raises(NotOnServer):
        asyncio.run(run())


@pytest.mark.parametrize("limits", [[], [40_000], [30_000, 60_000]])
def test_text_that_arrives_is_spoken_at_once_and_as_on_this_computer(
    service: RunningService, clip: Path, limits: list[int]
) -> None:
    """Also over a connection that breaks: its sentence is requested again."""

    async def speak_arriving(client: WorkerClient) -> tuple[np.ndarray, SynthesisReport]:
        plays = asyncio.Event()

        async def pieces() -> AsyncIterator[str]:
            yield "one two "
            yield "three four five. And"
            await plays.wait()
            for piece in (" six", " seven.\nAnd ", "nine"):
                yield piece

        async with client:
            await client.prepare_voice(request_with(clip).voice)
            proxy.limits[:] = limits
            handle = client.synthesize(request_with(clip, ""), pieces=pieces())
            samples = []
            async for chunk in handle:
                samples.append(chunk.samples)
                if len(samples) == 5:
                    plays.set()
            report = await handle.finished()
            assert report is not None
            return np.concatenate(samples), report

    with breaking_proxy(service.port) as proxy:
        there, report = asyncio.run(speak_arriving(client_of(proxy.url)))
        assert proxy.num_broken == len(limits)
        here, report_here = asyncio.run(speak_arriving(WorkerClient(Path("fake"), start_worker=ThreadWorker)))
    assert np.array_equal(there, here)
    assert len(here) == 10 * CHUNK_SAMPLES
    assert inaudible(report) == inaudible(report_here)
    assert report.network is not None


def test_arriving_text_without_words_fails_and_can_be_cancelled(service: RunningService, clip: Path) -> None:
    plays = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        yield "One two. Three"
        await asyncio.Event().wait()

    async def nothing() -> AsyncIterator[str]:
        yield "…"

    async def run() -> None:
        async with client_of(service.url) as client:
            with pytest.raises(NothingToSpeak):
                await client.synthesize(request_with(clip, ""), pieces=nothing()).finished()
            speaking = client.synthesize(request_with(clip, ""), pieces=endless())
            async for _ in speaking:
                plays.set()
                break
            speaking.cancel()
            assert await speaking.finished() is None

    asyncio.run(run())
    assert plays.is_set()


def test_the_description_makes_a_model_folder(service: RunningService, tmp_path: Path) -> None:
    async def run() -> Path:
        async with client_of(service.url) as client:
            return Path((await client.load()).folder)

    folder = asyncio.run(run())
    assert folder.is_relative_to(tmp_path)
    assert load_styles("cosyvoice3", folder) == load_styles("cosyvoice3", service.service.options.model_folder)
    assert list(folder.glob("cosyvoice*.yaml"))


def test_tokens_are_required_and_sent(serve: Serve, clip: Path, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    with serve(Address(port=0, token_file=theirs)) as running:
        for token in ("", "x" * 20):
            write_token(ours, token)
            with pytest.raises(ServerRefused, match="token"):
                speak(client_of(running.url, ours), request_with(clip, "one"))
        write_token(ours, theirs.read_text())
        assert ours.stat().st_mode & 0o777 == 0o600
        assert speak(client_of(running.url, ours), request_with(clip, "one"))[1] is not None


@pytest.mark.parametrize("kind", ["nothing", "other"])
def test_an_address_without_a_service_is_said(clip: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.remote.line_request._RETRY_SECONDS", (0.0,))
    with HubServer() as hub:
        url = "http://127.0.0.1:9" if kind == "nothing" else hub.url
        check_unusable(url, clip, kind)


def check_unusable(url: str, clip: Path, kind: str) -> None:
    with pytest.raises(ServerUnreachable if kind == "nothing" else UnknownService) as raised:
        speak(client_of(url), request_with(clip, "one"))
    assert str(raised.value.remedy)


def test_a_service_that_is_full_is_waited_for(serve: Serve, clip: Path) -> None:
    with serve(max_waiting=1) as running:

        async def run() -> list[SynthesisReport | None]:
            async with client_of(running.url) as client:
                lines = [client.synthesize(request_with(clip, "rest one"), hooks=Heard().hooks) for _ in range(3)]
                return [await line.finished() for line in lines]

        assert all(asyncio.run(run()))


def test_a_request_that_is_cancelled_in_the_moment_it_begins_ends(clip: Path) -> None:
    worker = RemoteWorker(ServerAddress("http://127.0.0.1:9"))
    worker.start()
    worker._on_loop(
        lambda: (worker._begin(protocol.Synthesize(1, request_with(clip))), worker._begin(protocol.Cancel(1)))
    )
    assert worker._events.get(timeout=10) == protocol.Cancelled(1)
    worker.send(protocol.Shutdown())
    worker.wait_exit()
