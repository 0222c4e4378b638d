"""OpenAI's own client against the service: whole and streamed speech, events, formats, voices and errors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openai
import pytest
import soundfile
from fake_model import CHUNK_SAMPLES, SAMPLE_RATE
from openai import OpenAI
from running_service import RunningService, last_request

pytestmark = pytest.mark.timeout(120)
CLIP = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"


@pytest.fixture
def client(service: RunningService) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{service.url}/v1", api_key="any", max_retries=0) as client:
        yield client


def levels(samples: np.ndarray) -> list[float]:
    """Return the constant of each chunk of the fake model."""
    return [round(float(value), 2) for value in samples[CHUNK_SAMPLES // 2 :: CHUNK_SAMPLES]]


def test_whole_speech_is_the_samples_of_the_worker(client: OpenAI) -> None:
    answer = client.audio.speech.create(model="tts-1", voice="alloy", input="one two three", response_format="wav")
    samples, rate = soundfile.read(io.BytesIO(answer.content))
    assert rate == SAMPLE_RATE
    assert len(samples) == 3 * CHUNK_SAMPLES
    assert levels(samples) == [0.1, 0.2, 0.3]
    assert answer.response.headers["content-type"] == "audio/wav"


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
def test_every_format_has_its_media_type_and_audio(client: OpenAI, format_name: str) -> None:
    if format_name == "aac":
        pytest.importorskip("av")
    answer = client.audio.speech.create(model="tts-1", voice="Ada", input="one two", response_format=format_name)
    starts = {
        "mp3": b"\xff\xf3",
        "opus": b"OggS",
        "aac": b"\xff\xf1",
        "flac": b"fLaC",
        "wav": b"RIFF\xff\xff\xff\xffWAVEfmt ",
    }
    assert answer.content.startswith(starts.get(format_name, b""))
    if format_name == "pcm":
        assert len(answer.content) == 2 * 2 * CHUNK_SAMPLES
    assert answer.response.headers["content-type"].startswith("audio/")


def test_streamed_speech_arrives_before_its_end_exists(client: OpenAI) -> None:
    """The last word makes the fake model wait until the request is cancelled: no byte can come from after it."""
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="Ada", input="one two wait", response_format="pcm"
    ) as answer:
        blocks = answer.iter_bytes(2 * CHUNK_SAMPLES)
        heard = next(blocks) + next(blocks)
    assert levels(np.frombuffer(heard, "<i2") / 32768) == [0.1, 0.2]


def test_events_carry_the_audio_and_end_with_the_usage(client: OpenAI) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="Ada", input="one two", response_format="pcm", stream_format="sse"
    ) as answer:
        lines = [line for line in answer.iter_lines() if line]
        kind = answer.headers["content-type"]
    assert kind.startswith("text/event-stream")
    assert [line.partition('"type":"')[2].partition('"')[0] for line in lines] == [
        "speech.audio.delta",
        "speech.audio.delta",
        "speech.audio.done",
    ]
    assert '"output_tokens":25' in lines[-1]


def test_extensions_are_passed_in_the_extra_body(client: OpenAI) -> None:
    client.audio.speech.create(
        model="gpt-4o-mini-tts",
        voice="Linda",
        input="one",
        instructions="speak with great joy",
        speed=1.25,
        response_format="wav",
        extra_body={"seed": 7, "sample_rate": 48_000},
    )
    request = last_request()
    assert (request.voice.name, request.seed, request.speed) == ("Linda", 7, 1.25)
    assert request.instruct == "speak with great joy"


def test_instructions_that_name_a_style_use_the_style(client: OpenAI, service: RunningService) -> None:
    style = service.service.styles.presets[0]
    client.audio.speech.create(model="tts-1", voice="Ada", input="one", instructions=style.label_en)
    assert last_request().preset == style.id
    assert last_request().instruct is None


def test_models_are_listed(client: OpenAI, service: RunningService) -> None:
    assert [model.id for model in client.models.list()] == [service.service.model_name]
    for name in (service.service.model_name, "tts-1"):
        assert client.models.retrieve(name).id == service.service.model_name


def test_a_voice_is_created_and_deleted(client: OpenAI) -> None:
    voice = client.audio.voices.create(name="Nora", consent="Nora, for this test", audio_sample=CLIP)
    assert (voice.id, voice.name, voice.object, voice.type) == ("Nora", "Nora", "audio.voice", "audio_sample")
    assert voice.created_at > 0
    client.audio.speech.create(model="tts-1", voice={"id": voice.id}, input="one")
    assert last_request().voice.name == "Nora"
    deleted = client.audio.voices.delete(voice.id)
    assert (deleted.deleted, deleted.object) == (True, "audio.voice.deleted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "kind", "code"),
    [
        ({"voice": "nobody"}, openai.NotFoundError, "voice-not-found"),
        ({"model": "CosyVoice2-0.5B"}, openai.NotFoundError, "model-not-found"),
        ({"input": "  "}, openai.BadRequestError, "nothing-to-speak"),
        ({"input": ""}, openai.BadRequestError, "bad-request"),
        ({"input": "x" * 20_001}, openai.BadRequestError, "bad-request"),
        ({"speed": 9}, openai.BadRequestError, "bad-request"),
        ({"response_format": "midi"}, openai.BadRequestError, "bad-request"),
        ({"input": "nothing"}, openai.BadRequestError, "nothing-to-speak"),
        ({"input": "memory"}, openai.InternalServerError, "out-of-memory"),
        ({"input": "bug"}, openai.InternalServerError, "internal-error"),
    ],
)
def test_an_error_before_the_audio_is_an_error_of_the_api(
    client: OpenAI, values: dict[str, object], kind: type[openai.APIStatusError], code: str
) -> None:
    request = {"model": "tts-1", "voice": "Ada", "input": "one", **values}
    with pytest.raises(kind) as caught:
        client.audio.speech.create(**request)  # type: ignore[call-overload]
    assert caught.value.code == code
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["message"]


def test_an_error_after_the_first_audio_breaks_the_response_off(client: OpenAI) -> None:
    with (
        client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="Ada", input="one two bug", response_format="pcm"
        ) as answer,
        pytest.raises(Exception, match=r"incomplete|closed|peer") as caught,
    ):
        for _ in answer.iter_bytes():
            pass
    assert "RemoteProtocolError" in type(caught.value).__name__
