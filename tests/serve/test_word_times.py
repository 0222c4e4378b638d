"""Word times of served speech: in JSON, in the last event, and over the WebSocket."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_checks import FakeChecks
from fake_model import CHUNK_SAMPLES
from running_service import RunningService, Serve
from websockets.asyncio.client import connect

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.records import TakeCheck, Verdict

pytestmark = pytest.mark.timeout(300)
WORDS = [{"word": "one", "start": 0.0, "end": 0.1}, {"word": "two", "start": 0.1, "end": 0.2}]
USAGE = {"input_tokens": 0, "output_tokens": 25, "total_tokens": 25}


@pytest.fixture
def checks() -> FakeChecks:
    return FakeChecks()


@pytest.fixture
def checked(serve: Serve, checks: FakeChecks) -> Iterator[RunningService]:
    with serve(open_checks=checks) as running:
        yield running


def ask(service: RunningService, **values: object) -> httpx2.Response:
    body = {"input": "one two", "response_format": "pcm", "timestamp_granularities": ["word"], **values}
    return httpx2.post(f"{service.url}/v1/audio/speech", json=body, timeout=60)


def test_one_json_object_contains_the_audio_and_its_words(checked: RunningService, checks: FakeChecks) -> None:
    answer = ask(checked, stream_format="json", speed=1.5)
    assert answer.headers["content-type"] == "application/json"
    values = answer.json()
    audio = base64.b64decode(values.pop("audio"))
    assert len(audio) == 2 * 2 * CHUNK_SAMPLES
    assert values == {
        "response_format": "pcm",
        "sample_rate": 24_000,
        "usage": USAGE,
        "quality": "exact",
        "words": WORDS,
    }
    request = checks.requests[-1]  # after one that loads the recogniser
    assert request.model_folder == checked.service.options.model_folder
    assert len(request.samples) == 2 * CHUNK_SAMPLES
    assert (request.text, request.speed, request.sample_rate) == ("one two", 1.5, 24_000)
    assert request.evidence == (SentenceEvidence("one two", 0.0, 0.2),)


def test_the_rate_in_json_is_that_of_its_audio(checked: RunningService) -> None:
    values = ask(checked, stream_format="json", sample_rate=48_000).json()
    assert values["sample_rate"] == 48_000
    assert len(base64.b64decode(values["audio"])) == 2 * 2 * 2 * CHUNK_SAMPLES
    assert values["words"] == WORDS


def test_the_last_event_contains_the_words(checked: RunningService) -> None:
    lines = [line for line in ask(checked, stream_format="sse").text.splitlines() if line]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert [event["type"] for event in events] == ["speech.audio.delta"] * 2 + ["speech.audio.done"]
    assert events[-1] == {"type": "speech.audio.done", "usage": USAGE, "quality": "exact", "words": WORDS}


def test_words_are_determined_only_on_request(checked: RunningService, checks: FakeChecks) -> None:
    values = ask(checked, stream_format="json", timestamp_granularities=[]).json()
    assert "words" not in values
    assert checks.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("values", [{}, {"stream_format": "json", "timestamp_granularities": ["phoneme"]}])
def test_words_in_a_form_without_place_for_them_are_refused(checked: RunningService, values: dict[str, object]) -> None:
    answer = ask(checked, **values)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad-request")


@pytest.mark.slow
def test_speech_that_cannot_be_aligned_has_no_words(serve: Serve) -> None:
    checks = FakeChecks(result=lambda _: TakeCheck(Verdict.NOT_CHECKED, error_code="checker-died"))
    with serve(open_checks=checks) as running:
        values = ask(running, stream_format="json").json()
    assert values["words"] is None
    assert values["audio"]
    assert checks.is_closed


def test_an_error_before_the_json_is_an_error_of_the_api(checked: RunningService) -> None:
    answer = ask(checked, stream_format="json", input="one two bug")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal-error")


def test_text_that_is_being_written_has_word_times_too(checked: RunningService) -> None:
    async def talk() -> list[dict[str, Any]]:
        async with connect(f"ws{checked.url[4:]}/v1/audio/speech/stream") as socket:
            await socket.send(json.dumps({"type": "start", "timestamp_granularities": ["word"]}))
            for piece in ("one ", "two\n", "one two"):
                await socket.send(json.dumps({"type": "text", "text": piece}))
            await socket.send(json.dumps({"type": "end"}))
            return [json.loads(message) async for message in socket if isinstance(message, str)]

    messages = asyncio.run(asyncio.wait_for(talk(), 60))
    later = [{"word": each["word"], "start": each["start"] + 0.2, "end": each["end"] + 0.2} for each in WORDS]
    later = [{**each, "start": round(each["start"], 3), "end": round(each["end"], 3)} for each in later]
    sentences = [message for message in messages if message["type"] == "sentence"]
    assert [(each["text"], each["words"]) for each in sentences] == [("one two\n", WORDS), ("one two", later)]
    assert messages[-1] == {"type": "done", "audio_seconds": 0.4, "words": [*WORDS, *later]}


def test_the_description_of_the_api_explains_the_forms(checked: RunningService) -> None:
    described = httpx2.get(f"{checked.url}/openapi.json").json()
    content = described["paths"]["/v1/audio/speech"]["post"]["responses"]["200"]["content"]
    assert set(content) == {"application/json", "audio/*", "text/event-stream"}
    names = {Path(ref).name for ref in _references(content)}
    assert {"WholeSpeech", "SpokenWord", "Usage"} <= names
    assert names <= set(described["components"]["schemas"])
    fields = described["components"]["schemas"]["SpeechBody"]["properties"]
    assert {"timestamp_granularities", "stream_format"} <= set(fields)


def _references(values: object) -> Iterator[str]:
    if isinstance(values, dict):
        for key, value in values.items():
            if key == "$ref":
                yield value
            yield from _references(value)
    elif isinstance(values, list):
        for value in values:
            yield from _references(value)
