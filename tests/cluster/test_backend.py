"""The backend of a cluster with replicas in this process: whole audio, lost replicas, files that travel."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from fake_model import CHUNK_SAMPLES
from local_replicas import CLIP, VOICE, LocalReplicas, open_replicas
from thread_worker import ThreadWorker

from studio.cluster.backend import ClusterBackend
from studio.cluster.replica import voices_in_memory
from studio.errors import NothingToSpeak, UnreadableClip, WorkerDied
from studio.model.options import Quality
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.serve.backend import ServedSpeech
from studio.serve.fair_queue import FairQueue
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

pytestmark = pytest.mark.timeout(60)
_Result = TypeVar("_Result")


@pytest.fixture
def replicas() -> LocalReplicas:
    return open_replicas(2)


def run(replicas: LocalReplicas, work: Callable[[ClusterBackend], Awaitable[_Result]]) -> _Result:
    async def with_backend() -> _Result:
        try:
            return await work(ClusterBackend(replicas, num_lines=2))
        finally:
            for replica in replicas.replicas:
                await replica.close()

    return asyncio.run(with_backend())


async def audio_of(handle: RequestHandle) -> tuple[list[float], SynthesisReport | None]:
    """Return one sample of each chunk, and the report."""
    async with handle:
        levels = [float(chunk.samples[0]) async for chunk in handle]
        return levels, await handle.finished()


async def served_audio(backend: ClusterBackend, text: str) -> np.ndarray:
    speech = ServedSpeech(
        backend,
        FairQueue(8, lambda: 2),
        "client",
        lambda served: served.run(lambda each: each.synthesize(SynthesisRequest(text, VOICE))),
    )
    try:
        return np.concatenate([chunk.samples async for chunk in speech.chunks()])
    finally:
        await speech.cancel()


def test_a_line_is_spoken_with_its_report(replicas: LocalReplicas) -> None:
    levels, report = run(replicas, lambda backend: audio_of(backend.synthesize(SynthesisRequest("one two", VOICE))))
    assert levels == pytest.approx([0.1, 0.2])
    assert report is not None
    assert report.max_concurrent_lines == 2, "the lines of all replicas together"


def test_the_description_has_the_lines_of_the_cluster(replicas: LocalReplicas) -> None:
    assert run(replicas, lambda backend: backend.load()).max_concurrent_lines == 2


def test_a_replica_is_ready_when_it_has_spoken_in_the_quality_of_the_cluster(replicas: LocalReplicas) -> None:
    """The first use of a quality compares solvers, for up to half a minute on a busy computer."""

    async def warm_requests(backend: ClusterBackend) -> list[Quality]:
        await backend.load()
        model = ThreadWorker.created[0].server._model
        assert model is not None
        return [request.quality for request in model.requests if isinstance(request, SynthesisRequest)]

    assert run(replicas, warm_requests) == [Quality.FAST]


@pytest.mark.parametrize("lost_after_chunks", [0, 1, 3])
def test_a_line_whose_replica_is_lost_is_spoken_again(replicas: LocalReplicas, lost_after_chunks: int) -> None:
    replicas.lost_after_chunks = lost_after_chunks
    audio = run(replicas, lambda backend: served_audio(backend, "one two three four"))
    assert len(replicas.sent) == 2
    assert replicas.num_lost == 1
    assert np.array_equal(audio, np.repeat(np.array([0.1, 0.2, 0.3, 0.4]), CHUNK_SAMPLES).astype(np.float32))


def test_a_worker_that_ends_in_its_replica_is_reported(replicas: LocalReplicas) -> None:
    async def speak(backend: ClusterBackend) -> None:
        async with backend.synthesize(SynthesisRequest("one wait two", VOICE)) as handle:
            await anext(handle)
            ThreadWorker.created[0].kill()
            with pytest.raises(WorkerDied):
                await handle.finished()
        assert await backend.num_lost_workers() == 1
        assert replicas.num_lost == 0

    run(replicas, speak)


def test_an_error_of_the_model_keeps_its_type(replicas: LocalReplicas) -> None:
    async def speak(backend: ClusterBackend) -> None:
        with pytest.raises(NothingToSpeak, match="nothing to speak"):
            await audio_of(backend.synthesize(SynthesisRequest("one nothing", VOICE)))

    run(replicas, speak)


def test_a_clip_is_fetched_once_by_each_replica_and_never_from_another_one(
    replicas: LocalReplicas, tmp_path: Path
) -> None:
    clip = Path(shutil.copy(CLIP, tmp_path / "voice.wav"))

    async def speak(backend: ClusterBackend) -> None:
        for _ in range(4):
            await audio_of(backend.synthesize(SynthesisRequest("one", VoiceReference(clip))))
        clip.write_bytes(b"another recording")
        await audio_of(backend.synthesize(SynthesisRequest("one", VoiceReference(clip))))

    run(replicas, speak)
    # Each request has its own copy, which only the ingress has: the node of another replica may be lost.
    assert [each.num_fetched for each in replicas.stored] == [1, 1, 0, 0, 1]
    assert [each.content for each in replicas.stored] == [CLIP.read_bytes()] * 4 + [b"another recording"]
    assert len({each.clip.digest for each in replicas.sent}) == 2


def test_a_missing_clip_is_an_error(replicas: LocalReplicas, tmp_path: Path) -> None:
    async def speak(backend: ClusterBackend) -> None:
        with pytest.raises(UnreadableClip, match=r"gone\.wav"):
            await audio_of(backend.synthesize(SynthesisRequest("one", VoiceReference(tmp_path / "gone.wav"))))

    run(replicas, speak)


def test_a_recording_is_converted_and_not_kept(replicas: LocalReplicas, tmp_path: Path) -> None:
    source = Path(shutil.copy(CLIP, tmp_path / "source.wav"))
    with source.open("ab") as file:
        file.write(b"\0\0")

    async def convert(backend: ClusterBackend) -> list[float]:
        levels, _ = await audio_of(backend.convert(ConversionRequest(source, VOICE)))
        folder = Path(replicas.replicas[0]._folder.name)
        while len(folders := list(folder.iterdir())) > 1:
            await asyncio.sleep(0.01)
        assert [path.stem for path in folders] == [replicas.sent[0].clip.digest]
        return levels

    assert run(replicas, convert) == pytest.approx([0.1, 0.2])


def test_a_cancelled_line_ends_in_the_replica(replicas: LocalReplicas) -> None:
    async def cancel(backend: ClusterBackend) -> None:
        async with backend.synthesize(SynthesisRequest("one wait two", VOICE)) as handle:
            await anext(handle)
        client = replicas.replicas[0]._client
        while client._running:
            await asyncio.sleep(0.01)

    run(replicas, cancel)


def test_progress_is_sent_only_if_it_is_wanted(replicas: LocalReplicas) -> None:
    shares: list[float] = []
    starts: list[StartTime] = []

    async def speak(backend: ClusterBackend) -> None:
        await audio_of(backend.synthesize(SynthesisRequest("one two", VOICE)))
        assert not replicas.sent[0].reports_progress
        hooks = Callbacks(on_progress=lambda _, share: shares.append(share), on_start_time=starts.append)
        await audio_of(backend.synthesize(SynthesisRequest("one two", VOICE), hooks=hooks))

    run(replicas, speak)
    assert shares[-2:] == [0.1, 0.2]
    assert len(starts) == 1


def test_a_voice_is_prepared_and_a_text_spelled_out(replicas: LocalReplicas) -> None:
    async def use(backend: ClusterBackend) -> tuple[VoiceSummary, str]:
        return await backend.prepare_voice(VOICE), await backend.spell_out("one")

    summary, text = run(replicas, use)
    assert summary.name == "anna"
    assert text == "one."


def test_as_many_voices_are_warm_as_memory_holds() -> None:
    def description(memory_bytes: int) -> EngineDescription:
        return EngineDescription("m", "cosyvoice3", "m", 24_000, "cpu", {}, voice_memory_bytes=memory_bytes)

    voice = VoiceSummary("a", 5.0, 125, 10, state_bytes=100)
    assert voices_in_memory(description(1_000), voice) == 5, "a clip of ten seconds takes 200 bytes"
    assert voices_in_memory(description(10), voice) == 1
    long = VoiceSummary("a", 20.0, 500, 10, state_bytes=500)
    assert voices_in_memory(description(1_000), long) == 2
    assert voices_in_memory(description(0), VoiceSummary("a", 5.0, 125, 10)) == 1
