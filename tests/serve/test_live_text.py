"""Text that is still being written, over a WebSocket: audio, slots, several speeches, and how a connection ends."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx2
import pytest
from fake_model import CHUNK_SAMPLES
from running_service import RunningService, Serve
from waiting import wait_until
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from studio.serve import live_text

pytestmark = pytest.mark.timeout(300)
SENTENCE = "This is the first sentence."  # five words


class Talk:
    """A connection that sorts what it receives."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.audio = b""
        self.messages: list[dict[str, Any]] = []
        self.closed: tuple[int, str] = (0, "")

    async def send(self, kind: str, **values: object) -> None:
        await self.socket.send(json.dumps({"type": kind, **values}))

    async def receive(self) -> None:
        message = await self.socket.recv()
        if isinstance(message, bytes):
            self.audio += message
        else:
            self.messages.append(json.loads(message))

    async def until(self, kind: str, **values: object) -> dict[str, Any]:
        """Receive until a message with ``values`` arrives."""
        while True:
            if self.messages and ({"type": kind} | values).items() <= self.messages[-1].items():
                return self.messages[-1]
            await self.receive()

    async def until_closed(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.receive()
        assert self.socket.close_code is not None
        self.closed = (self.socket.close_code, self.socket.close_reason or "")

    def of(self, kind: str, **values: object) -> list[dict[str, Any]]:
        return [each for each in self.messages if ({"type": kind} | values).items() <= each.items()]


def talk(service: RunningService, conversation: Callable[[Talk], Awaitable[None]]) -> Talk:
    async def run() -> Talk:
        async with connect(f"ws{service.url[4:]}/v1/audio/speech/stream") as socket:
            talking = Talk(socket)
            await conversation(talking)
            return talking

    return asyncio.run(asyncio.wait_for(run(), 60))


def speak(service: RunningService, text: str) -> bytes:
    body = {"input": text, "response_format": "pcm"}
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.content


def running(service: RunningService) -> int:
    metrics = httpx2.get(f"{service.url}/metrics").text.splitlines()
    return int(float(next(line.split()[1] for line in metrics if line.startswith("timbre_running_requests "))))


@pytest.fixture
def small(serve: Serve) -> Iterator[RunningService]:
    with serve(max_waiting=1) as service:
        yield service


def test_sentences_are_spoken_while_the_text_arrives(service: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        await client.send("start", voice="Ada", seed=3)
        await client.send("text", text=SENTENCE)
        await client.send("text", text=" And")
        await client.until("sentence")
        await client.send("text", text=" that is all.")
        await client.send("end")
        await client.until_closed()

    heard = talk(service, conversation)
    assert heard.audio == speak(service, SENTENCE) + speak(service, "And that is all.")
    assert [each["type"] for each in heard.messages] == ["started", "sentence", "sentence", "done"]
    assert heard.messages[0] == {"type": "started", "sample_rate": 24_000, "response_format": "pcm"}
    assert heard.messages[1] == {"type": "sentence", "text": SENTENCE, "start": 0.0, "end": 0.5}
    assert heard.messages[2]["end"] == heard.messages[3]["audio_seconds"] == pytest.approx(0.9)
    assert heard.closed == (1000, "")


def test_a_silent_client_costs_nothing(service: RunningService) -> None:
    """Another client is served while the first one thinks, also in the middle of its text."""

    async def conversation(client: Talk) -> None:
        await client.send("start")
        assert await asyncio.to_thread(running, service) == 0
        await client.send("text", text=f"{SENTENCE} And")
        await client.until("sentence")
        assert await asyncio.to_thread(running, service) == 0
        await asyncio.to_thread(speak, service, "one two")
        await client.send("end")
        await client.until_closed()

    assert talk(service, conversation).closed == (1000, "")


def test_a_flush_speaks_what_has_arrived(service: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        await client.send("start")
        await client.send("text", text="one two")
        await client.send("flush")
        await client.until("flushed")
        assert len(client.audio) == 2 * 2 * CHUNK_SAMPLES
        await client.send("text", text=" three")
        await client.send("end")
        await client.until_closed()

    heard = talk(service, conversation)
    assert [each["text"] for each in heard.of("sentence")] == ["one two", " three"]


def test_several_speeches_share_a_connection(service: RunningService) -> None:
    """Each has its options, its audio and its end, and the connection stays open."""

    async def conversation(client: Talk) -> None:
        await client.send("start", context_id="a")
        await client.send("start", context_id="b", sample_rate=48_000)
        await client.send("text", context_id="a", text="one")
        await client.send("text", context_id="b", text="one two three")
        await client.send("end", context_id="b")
        await client.until("done", context_id="b")
        await client.send("end", context_id="a")
        await client.until("done", context_id="a")
        await client.send("start", context_id="a")
        await client.send("text", context_id="a", text="nothing")
        await client.send("end", context_id="a")
        await client.until("error", context_id="a")
        await client.send("ping")
        await client.until("pong")

    heard = talk(service, conversation)
    assert heard.audio == b"", "audio with the id of its speech is JSON"
    parts = {
        name: b"".join(base64.b64decode(each["audio"]) for each in heard.of("audio", context_id=name)) for name in "ab"
    }
    assert {name: len(audio) for name, audio in parts.items()} == {"a": 2 * CHUNK_SAMPLES, "b": 12 * CHUNK_SAMPLES}
    assert heard.of("started", context_id="b")[0]["sample_rate"] == 48_000
    assert heard.of("error")[0]["error"]["code"] == "nothing-to-speak"


def test_a_cancelled_speech_ends_alone(service: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        await client.send("start", context_id="a")
        await client.send("text", context_id="a", text="one wait")
        await client.send("flush", context_id="a")
        await client.until("audio")
        await client.send("cancel", context_id="a")
        await client.until("cancelled", context_id="a")
        await client.send("text", context_id="a", text="too late")
        await client.send("start", context_id="b")
        await client.send("text", context_id="b", text="two")
        await client.send("end", context_id="b")
        await client.until("done", context_id="b")

    heard = talk(service, conversation)
    assert len(heard.of("audio", context_id="a")) == 1
    wait_until(lambda: service.service.queue.num_running == 0)


def test_a_speech_that_has_begun_is_not_refused_by_a_full_queue(small: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        await client.send("start")
        await client.send("text", text=f"{SENTENCE} And")
        await client.until("sentence")
        others = [asyncio.create_task(asyncio.to_thread(speak, small, "rest rest rest")) for _ in range(2)]
        while small.service.queue.num_waiting == 0:
            await asyncio.sleep(0.01)
        await client.send("text", text=" that is all.")
        await client.send("end")
        await client.until_closed()
        await asyncio.gather(*others)

    assert talk(small, conversation).closed == (1000, "")


def test_a_killed_worker_repeats_the_sentence_only(service: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        await client.send("start")
        await client.send("text", text=f"{SENTENCE} rest rest rest rest rest rest")
        await client.send("flush")
        while len(client.audio) < 2 * 7 * CHUNK_SAMPLES:
            await client.receive()
        service.kill_worker()
        await client.send("end")
        await client.until_closed()

    heard = talk(service, conversation)
    assert heard.closed == (1000, "")
    assert heard.audio == speak(service, SENTENCE + " rest rest rest rest rest rest")


@pytest.mark.parametrize(
    ("messages", "code", "status"),
    [
        (["no json"], "bad-request", 400),
        ([{"type": "text", "text": "early"}], "bad-request", 400),
        ([{"type": "start", "voice": "nobody"}], "voice-not-found", 404),
        ([{"type": "start", "speed": 9}], "bad-request", 400),
        ([{"type": "start"}, {"type": "dance"}], "bad-request", 400),
        ([{"type": "start"}, {"type": "start"}], "bad-request", 400),
        ([{"type": "start"}, {"type": "text", "text": 7}], "bad-request", 400),
        ([{"type": "start"}, {"type": "text", "text": "x" * 30_000}], "bad-request", 400),
        ([{"type": "start"}, {"type": "text", "text": "…"}, {"type": "end"}], "nothing-to-speak", 400),
        ([{"type": "start"}, {"type": "text", "text": "bug"}, {"type": "end"}], "internal-error", 500),
        ([{"type": "start", "context_id": str(number)} for number in range(17)], "too-many-requests", 429),
    ],
)
def test_a_connection_that_fails_says_why(
    service: RunningService, messages: list[object], code: str, status: int
) -> None:
    async def conversation(client: Talk) -> None:
        for message in messages:
            await client.socket.send(message if isinstance(message, str) else json.dumps(message))
        await client.until_closed()

    heard = talk(service, conversation)
    assert heard.messages[-1]["type"] == "error"
    assert heard.messages[-1]["error"]["code"] == code
    assert heard.closed == (4000 + status, code)


def test_a_connection_without_messages_is_closed(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not while what was sent is spoken."""
    monkeypatch.setattr(live_text, "MAX_PAUSE_SECONDS", 0.05)

    async def conversation(client: Talk) -> None:
        await client.send("start", context_id="a")
        await client.send("text", context_id="a", text="rest rest one")
        await client.send("flush", context_id="a")
        await client.until_closed()

    heard = talk(service, conversation)
    assert heard.of("flushed")
    assert heard.closed == (4408, "request-timed-out")


def test_a_client_that_leaves_ends_its_speeches(service: RunningService) -> None:
    async def conversation(client: Talk) -> None:
        for name in "ab":
            await client.send("start", context_id=name)
            await client.send("text", context_id=name, text="one wait")
            await client.send("flush", context_id=name)
        await client.until("audio")

    talk(service, conversation)
    wait_until(lambda: service.service.queue.num_running == 0 and service.service.queue.num_waiting == 0)
    assert len(speak(service, "one")) == 2 * CHUNK_SAMPLES
