"""Sentences that begin before they are complete, with a model that can: on all ways, and without a slot in pauses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2
import noise_models
import numpy as np
import pytest
from local_replicas import CLIP, LocalReplicas
from running_service import RunningService, Serve, fake_worker
from websockets.asyncio.client import connect

from studio.cluster.backend import ClusterBackend
from studio.cluster.replica import Replica
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.serve import backend as serve_backend
from studio.serve.backend import ServedSpeech
from studio.serve.fair_queue import FairQueue
from studio.text.arriving import ArrivingText, Fragment
from studio.text.segmentation import IncrementalText, TextPart
from studio.worker.client import WorkerClient
from studio.worker.process import Worker
from studio.worker.request_handle import Callbacks, RequestHandle

pytestmark = pytest.mark.timeout(120)
BEGINNING, END = "The harbour was quiet when we came h", "ome. Then the boats lay still again."
REQUEST = SynthesisRequest(text="", voice=VoiceReference(CLIP))


@pytest.fixture
def interleaving(serve: Serve) -> Iterator[RunningService]:
    with serve(start_worker=lambda: fake_worker("interleaves")) as service:
        yield service


def heard_by_client(start_worker: Callable[[], Worker]) -> np.ndarray:
    """Return the audio of a text whose end arrives once its beginning is heard."""

    async def run() -> np.ndarray:
        is_heard = asyncio.Event()

        async def pieces() -> AsyncIterator[str]:
            yield BEGINNING
            await is_heard.wait()
            yield END

        async with WorkerClient(noise_models.V3, start_worker=start_worker) as client:
            samples = []
            async for chunk in client.synthesize(REQUEST, pieces=pieces()):
                samples.append(chunk.samples)
                is_heard.set()
            return np.concatenate(samples)

    return asyncio.run(asyncio.wait_for(run(), 60))


def expected() -> np.ndarray:
    return heard_by_client(lambda: fake_worker("interleaves"))


def test_a_sentence_is_heard_before_it_is_complete() -> None:
    assert len(expected()) == 14 * 2400


def test_another_computer_gives_the_same(interleaving: RunningService) -> None:
    heard = heard_by_client(lambda: RemoteWorker(ServerAddress(interleaving.url)))
    np.testing.assert_array_equal(heard, expected())


def test_other_clients_have_a_turn_while_a_long_message_is_divided(
    interleaving: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, feed = "今天天气很好，" * 400, IncrementalText.feed
    pieces: list[str] = []
    turns: list[int] = []  # the number of pieces at the turn of the event loop after each of them

    def recording_feed(incremental: IncrementalText, piece: str) -> list[TextPart]:
        pieces.append(piece)
        asyncio.get_running_loop().call_soon(lambda: turns.append(len(pieces)))
        return feed(incremental, piece)

    monkeypatch.setattr(IncrementalText, "feed", recording_feed)

    async def run() -> None:
        async with connect(f"ws{interleaving.url[4:]}/v1/audio/speech/stream") as socket:
            for message in ({"type": "start"}, {"type": "text", "text": text}, {"type": "ping"}):
                await socket.send(json.dumps(message))
            while True:
                received = await socket.recv()
                if isinstance(received, str) and json.loads(received)["type"] == "pong":
                    return

    asyncio.run(asyncio.wait_for(run(), 60))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100
    assert turns == list(range(1, len(pieces) + 1)), "two pieces in one turn"


def test_the_web_socket_gives_the_same(interleaving: RunningService) -> None:
    async def run() -> bytes:
        audio = b""
        async with connect(f"ws{interleaving.url[4:]}/v1/audio/speech/stream") as socket:
            await socket.send(json.dumps({"type": "start"}))
            await socket.send(json.dumps({"type": "text", "text": BEGINNING}))
            while not audio:
                message = await socket.recv()
                audio += message if isinstance(message, bytes) else b""
            await socket.send(json.dumps({"type": "text", "text": END}))
            await socket.send(json.dumps({"type": "end"}))
            sentences = []
            async for message in socket:
                if isinstance(message, bytes):
                    audio += message
                elif json.loads(message)["type"] == "sentence":
                    sentences.append(json.loads(message)["text"])
        assert "".join(sentences) == BEGINNING + END
        return audio

    heard = np.frombuffer(asyncio.run(asyncio.wait_for(run(), 60)), "<i2")
    np.testing.assert_allclose(heard / 32768, expected(), atol=2e-4)


def sentence() -> ArrivingText:
    text = ArrivingText()
    text.add(Fragment("The harbour"))
    return text


def test_a_cluster_fetches_the_text() -> None:
    replicas = LocalReplicas(
        [Replica(WorkerClient(noise_models.V3, start_worker=lambda: fake_worker("interleaves"))) for _ in range(2)]
    )

    async def run() -> int:
        backend = ClusterBackend(replicas, num_lines=2)
        replicas.fetch_text = backend.texts.fragments
        text, num_samples = sentence(), 0
        async for chunk in backend.synthesize(REQUEST, text=text):
            num_samples += len(chunk.samples)
            text.add(Fragment(" was quiet.", is_last=True))
        for replica in replicas.replicas:
            await replica.close()
        return num_samples

    assert asyncio.run(asyncio.wait_for(run(), 60)) == 4 * 2400


def test_a_text_that_pauses_gives_up_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another client is served, and the sentence goes on without losing or repeating a sample."""
    monkeypatch.setattr(serve_backend, "_PAUSE_SECONDS", 0.1)
    worker = fake_worker("interleaves")

    async def run() -> list[int]:
        queue, order = FairQueue(8, lambda: 1), []
        async with WorkerClient(noise_models.V3, start_worker=lambda: worker) as client:

            def served(name: str, text: ArrivingText) -> ServedSpeech:
                def begin(backend: WorkerClient) -> RequestHandle:
                    return backend.synthesize(REQUEST, text=text, hooks=Callbacks())

                return ServedSpeech(client, queue, name, lambda speech: speech.speak_arriving(text, begin))

            slow, fast = sentence(), sentence()
            first = served("slow", slow)
            chunks = first.chunks()
            heard = [await anext(chunks), await anext(chunks)]
            fast.add(Fragment(" was quiet.", is_last=True))
            other = served("fast", fast)
            order.append(sum([len(chunk.samples) async for chunk in other.chunks()]))
            await other.cancel()
            slow.add(Fragment(" was very quiet.", is_last=True))
            heard += [chunk async for chunk in chunks]
            order.append(sum(len(chunk.samples) for chunk in heard))
            await first.cancel()
            levels = [round(float(chunk.samples[0]), 1) for chunk in heard]
            assert levels == [0.1, 0.2, 0.3, 0.4, 0.5]
            return order

    assert asyncio.run(asyncio.wait_for(run(), 60)) == [4 * 2400, 5 * 2400]


@pytest.mark.parametrize("path", ["/v1/engine/texts", "/v1/engine/texts/0123"])
def test_an_earlier_program_learns_what_to_do(interleaving: RunningService, path: str) -> None:
    answer = httpx2.post(interleaving.url + path, json={})
    assert answer.status_code == 400
    assert "Update the program" in answer.json()["error"]["message"]
