"""The client with a server in a thread: order, callbacks, cancellation, and a worker that dies."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from fake_model import SAMPLE_RATE
from thread_worker import ThreadWorker

from studio.errors import CannotWrite, InternalError, ModelNotFound, NothingToSpeak, WorkerDied
from studio.pipeline.request import AudioChunk, ConversionRequest, SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks, StartTime

pytestmark = pytest.mark.timeout(60)
VOICE = VoiceReference(Path("anna.wav"), "What she said.", "anna")
_Result = TypeVar("_Result")


@pytest.fixture(autouse=True)
def short_grace_periods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.worker.client._CLOSE_GRACE_SECONDS", 0.5)
    monkeypatch.setattr("studio.worker.client._CANCEL_GRACE_SECONDS", 0.3)


@pytest.fixture(autouse=True)
def workers() -> list[ThreadWorker]:
    ThreadWorker.created.clear()
    return ThreadWorker.created


def run(work: Callable[[WorkerClient], Awaitable[_Result]], *, folder: str = "fake") -> _Result:
    async def with_client() -> _Result:
        async with WorkerClient(Path(folder), start_worker=ThreadWorker) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(with_client(), 30))


def text(words: str) -> SynthesisRequest:
    return SynthesisRequest(words, VOICE)


async def heard(client: WorkerClient, words: str) -> int:
    return len([chunk async for chunk in client.synthesize(text(words))])


def test_chunks_are_iterated_and_the_report_follows() -> None:
    async def work(client: WorkerClient) -> None:
        speech = client.synthesize(text("one two"))
        chunks = [chunk async for chunk in speech]
        assert [round(float(chunk.samples[0]), 3) for chunk in chunks] == [0.1, 0.2]
        assert chunks[0].sample_rate == SAMPLE_RATE
        assert speech.report is not None
        assert speech.report.spoken_text == ("one two",)
        assert await speech.finished() is speech.report
        assert [chunk async for chunk in speech] == [], "iterating again ends at once"

    run(work)


def test_audio_can_be_received_on_the_reading_thread() -> None:
    async def work(client: WorkerClient) -> None:
        taken: list[tuple[int, AudioChunk]] = []
        hooks = Callbacks(on_audio=lambda chunk: taken.append((threading.get_ident(), chunk)))
        speech = client.synthesize(text("one two three"), hooks=hooks)
        assert await speech.finished() is not None
        assert [chunk async for chunk in speech] == []
        np.testing.assert_allclose([chunk.samples[0] for _, chunk in taken], [0.1, 0.2, 0.3], rtol=1e-6)
        assert {thread for thread, _ in taken} != {threading.get_ident()}

    run(work)


def test_progress_and_playback_start_are_reported_on_the_loop() -> None:
    async def work(client: WorkerClient) -> None:
        loop = asyncio.get_running_loop()
        stages: list[tuple[str, float]] = []
        starts: list[StartTime] = []

        def on_progress(stage: str, share: float) -> None:
            assert asyncio.get_running_loop() is loop
            stages.append((stage, share))

        hooks = Callbacks(on_progress=on_progress, on_start_time=starts.append)
        await client.synthesize(text("one"), hooks=hooks).finished()
        assert stages == [("load", 0.0), ("speech", 0.1)]
        assert starts[0].seconds_after_start == 0.25
        assert loop.time() - 1 < starts[0].loop_time < loop.time() + 0.25
        await client.synthesize(text("one"), hooks=hooks).finished()
        assert stages[2:] == [("speech", 0.1)], "a loaded model is not loaded again"

    run(work)


def test_a_hook_that_fails_ends_its_request_only() -> None:
    def full(chunk: AudioChunk) -> None:
        raise CannotWrite("The disk is full.")

    async def work(client: WorkerClient) -> None:
        with pytest.raises(CannotWrite):
            await client.synthesize(text("one wait"), hooks=Callbacks(on_audio=full)).finished()
        assert await heard(client, "one two") == 2

    run(work)


def test_one_worker_serves_many_requests(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        assert await asyncio.gather(*(heard(client, "one two") for _ in range(4))) == [2] * 4
        assert (await client.prepare_voice(VOICE)).prompt_tokens == 75
        report = await client.convert(ConversionRequest(Path("source.wav"), VOICE)).finished()
        assert report is not None

    run(work)
    assert len(workers) == 1


def test_a_request_after_load_does_not_load_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[WorkerClient] = []
    load = WorkerClient.load
    monkeypatch.setattr(WorkerClient, "load", lambda client: (loads.append(client), load(client))[1])

    async def work(client: WorkerClient) -> None:
        await client.load()
        assert await heard(client, "one two") == 2
        assert await heard(client, "one") == 1

    run(work)
    assert len(loads) == 1


def test_text_that_arrives_in_pieces_is_synthesized_at_once(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        was_heard = asyncio.Event()

        async def pieces() -> AsyncIterator[str]:
            yield "This is the first sentence. And"
            await was_heard.wait()
            yield " this is the second."

        speech = client.synthesize(text(""), pieces=pieces())
        async for _ in speech:
            was_heard.set()
        report = speech.report
        assert report is not None
        assert report.spoken_text == ("This is the first sentence.", " And this is the second.")
        assert report.audio_seconds == pytest.approx(1.0)
        assert [each.from_seconds for each in report.evidence] == pytest.approx([0.0, 0.5])
        assert [request.first_index for request in workers[0].server._model.requests] == [0, 1]  # type: ignore[union-attr]

    run(work)


def test_nothing_runs_in_the_worker_while_a_text_pauses() -> None:
    async def work(client: WorkerClient) -> None:
        async def pieces() -> AsyncIterator[str]:
            yield "This is the first sentence. And"
            await asyncio.Event().wait()

        speech = client.synthesize(text(""), pieces=pieces())
        for _ in range(5):
            await anext(speech)
        assert await heard(client, "one two") == 2
        speech.cancel()
        assert await speech.finished() is None

    run(work)


def test_a_client_that_is_closed_ends_a_text_that_arrives() -> None:
    async def work(client: WorkerClient) -> None:
        async def pieces() -> AsyncIterator[str]:
            await asyncio.Event().wait()
            yield ""

        await client.load()
        speech = client.synthesize(text(""), pieces=pieces())
        await client.close()
        assert await speech.finished() is None

    run(work)


def test_an_error_of_the_text_source_fails_the_request() -> None:
    async def pieces() -> AsyncIterator[str]:
        yield "first "
        raise CannotWrite("The keyboard broke.")

    async def work(client: WorkerClient) -> None:
        with pytest.raises(CannotWrite, match="keyboard"):
            await client.synthesize(text(""), pieces=pieces()).finished()
        assert await heard(client, "one") == 1

    run(work)


def test_cancel_stops_at_once_without_an_error(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        speech = client.synthesize(text("one wait two"))
        chunks = []
        async for chunk in speech:
            chunks.append(chunk)
            speech.cancel()
        assert len(chunks) == 1
        assert await speech.finished() is None
        assert await heard(client, "one") == 1

    run(work)
    assert len(workers) == 1


def test_leaving_early_cancels() -> None:
    async def work(client: WorkerClient) -> None:
        async with client.synthesize(text("one wait")) as speech:
            async for _ in speech:
                break
        assert speech.is_over
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.synthesize(text("wait")).finished(), 0.2)
        assert await heard(client, "one") == 1

    run(work)


def test_a_request_cancelled_during_loading_is_not_sent() -> None:
    async def work(client: WorkerClient) -> None:
        speech = client.synthesize(text("stuck"))
        await asyncio.sleep(0)
        speech.cancel()
        assert await speech.finished() is None
        assert await heard(client, "one") == 1

    run(work)


def test_a_cancelled_preparation_leaves_the_worker_free() -> None:
    async def work(client: WorkerClient) -> None:
        preparing = asyncio.create_task(client.prepare_voice(VOICE))
        await asyncio.sleep(0)
        preparing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await preparing
        assert await heard(client, "one") == 1

    run(work)


def test_errors_keep_their_class() -> None:
    async def work(client: WorkerClient) -> None:
        with pytest.raises(NothingToSpeak, match="nothing to speak"):
            await heard(client, "nothing")
        with pytest.raises(InternalError, match="ZeroDivisionError"):
            await client.synthesize(text("bug")).finished()

    run(work)


def test_a_model_that_does_not_load_fails_each_request(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        for _ in range(2):
            with pytest.raises(ModelNotFound):
                await heard(client, "one")
        with pytest.raises(ModelNotFound):
            await client.load()

    run(work, folder="missing")
    assert len(workers) == 1


def test_the_end_of_a_worker_fails_requests_and_the_next_starts_another(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        running, queued = client.synthesize(text("one wait")), client.synthesize(text("two"))
        async for _ in running:
            break
        workers[0].kill()
        for speech in (running, queued):
            with pytest.raises(WorkerDied, match="ended unexpectedly"):
                await speech.finished()
        assert await heard(client, "one two") == 2

    run(work)
    assert len(workers) == 2


def test_the_end_of_a_worker_between_requests_has_no_effect(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        assert await heard(client, "one") == 1
        workers[0].kill()
        await client.finish_writes()
        assert await heard(client, "one") == 1

    run(work)
    assert len(workers) == 2


def test_the_end_of_a_worker_while_loading_fails_all_requests(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        waiting = [asyncio.create_task(heard(client, "one")) for _ in range(3)]
        await asyncio.sleep(0.1)
        workers[0].kill()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [WorkerDied] * 3

    run(work, folder="slow-load")


def test_the_end_of_a_worker_fails_a_voice_preparation(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        await client.load()
        client.synthesize(text("wait"))
        preparing = asyncio.create_task(client.prepare_voice(VOICE))
        await asyncio.sleep(0.1)
        workers[0].kill()
        with pytest.raises(WorkerDied):
            await preparing

    run(work)


def test_a_worker_that_ignores_cancel_is_replaced(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        speech = client.synthesize(text("one stuck"))
        async for _ in speech:
            speech.cancel()
        with pytest.raises(WorkerDied):
            await heard(client, "one")
        assert await heard(client, "one") == 1

    run(work)
    assert len(workers) == 2


def test_close_does_not_wait_for_a_stuck_worker() -> None:
    async def work(client: WorkerClient) -> None:
        speech = client.synthesize(text("one stuck"))
        async for _ in speech:
            break
        await client.close()
        assert await speech.finished() is None

    run(work)


def test_writes_are_finished_only_where_a_worker_runs(workers: list[ThreadWorker]) -> None:
    shares: list[tuple[str, float]] = []

    async def work(client: WorkerClient) -> None:
        await client.finish_writes()
        assert workers == []
        await client.load()
        await client.finish_writes(on_progress=lambda stage, share: shares.append((stage, share)))
        workers[0].kill()
        await client.finish_writes()

    run(work)
    assert shares == [("save", 0.5), ("save", 1.0)]


def test_a_closed_client_can_be_used_again(workers: list[ThreadWorker]) -> None:
    async def work(client: WorkerClient) -> None:
        assert await heard(client, "one") == 1
        await client.close()
        assert workers[0].server is not None
        assert await heard(client, "one") == 1

    run(work)
    assert len(workers) == 2


def test_a_worker_that_cannot_start_is_an_error() -> None:
    class Unstartable(ThreadWorker):
        def start(self) -> None:
            raise OSError("no more processes")

    async def work() -> None:
        async with WorkerClient(Path("fake"), start_worker=Unstartable) as client:
            with pytest.raises(WorkerDied, match="no more processes"):
                await client.synthesize(text("one")).finished()

    asyncio.run(asyncio.wait_for(work(), 10))
