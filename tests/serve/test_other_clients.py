"""Requests of programs that were written for other servers are answered as their own servers answer them."""

from __future__ import annotations

import shutil
from pathlib import Path

import fake_model
import httpx2
import noise_models
import pytest
import running_service
import torch
from fake_model import CHUNK_SAMPLES
from running_service import RunningService, Serve, last_request
from safetensors.numpy import load_file

from studio.catalog.built_in_speakers import list_speakers
from studio.paths import resources
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(120)
STUDIO_MINI = resources() / "models" / "studio-mini"
# What each program sends: recorded, or from its public source.
SPEECH_REQUESTS = {
    "Open WebUI": {"input": "one two", "voice": "alloy", "model": "tts-1"},
    "SillyTavern": {"input": "one two", "voice": "nova", "model": "tts-1", "response_format": "mp3", "speed": 0.25},
    "LibreChat": {"input": "one two", "voice": "Linda", "model": "tts-1-hd", "backend": "openai"},
    "AnythingLLM": {"input": "one two", "voice": "alloy", "model": "tts-1"},
    "wyoming-openai": {"input": "one two", "voice": "Ada", "model": "tts-1", "response_format": "wav", "speed": 4},
    "openai (npm)": {"input": "one two", "voice": "alloy", "model": "gpt-4o-mini-tts-2025-12-15", "speed": None},
    "LiteLLM": {
        "input": "one two",
        "voice": "alloy",
        "model": "gpt-4o-mini-tts-2025-12-15",
        "instructions": "Cheerful.",
        "speed": 4.0,
    },
    "Pipecat": {"input": "one two", "voice": "nova", "model": "gpt-4o-mini-tts", "response_format": "pcm"},
    "LiveKit": {
        "input": "one two",
        "voice": "Linda",
        "model": "gpt-4o-mini-tts",
        "response_format": "mp3",
        "speed": 1.0,
        "stream_format": "sse",
    },
    "Kokoro-FastAPI's clients": {
        "input": "one two",
        "voice": "Max",
        "model": "kokoro",
        "response_format": "mp3",
        "download_format": None,
        "stream": True,
        "return_download_link": False,
        "lang_code": None,
        "volume_multiplier": 1.0,
        "normalization_options": {"normalize": True},
    },
}


def speak(service: RunningService, **values: object) -> httpx2.Response:
    body = {"input": "one two", "response_format": "pcm", **values}
    return httpx2.post(f"{service.url}/v1/audio/speech", json=body)


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("body", SPEECH_REQUESTS.values(), ids=list(SPEECH_REQUESTS))
def test_the_speech_requests_of_other_programs_are_answered(service: RunningService, body: dict[str, object]) -> None:
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=body)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) > 100
    request = last_request()
    assert request.speed == (body.get("speed") or 1.0)
    expected = {"alloy": "Ada", "nova": "Ada"}.get(str(body["voice"]), body["voice"])
    assert request.voice.name == expected


def test_null_counts_as_absent(service: RunningService) -> None:
    nothing = dict.fromkeys(
        ("model", "voice", "instructions", "preset", "speed", "seed", "quality", "sample_rate", "stream_format")
    )
    assert speak(service, **nothing, timestamp_granularities=None, response_format=None).content.startswith(b"\xff\xf3")
    assert refusal(speak(service, input=None)) == (400, "bad-request")


def test_names_of_openais_voices_mean_different_bundled_voices(service: RunningService) -> None:
    heard = {}
    for name in ("alloy", "echo", "fable", "onyx", "Coral"):
        assert speak(service, voice=name).status_code == 200
        heard[name] = last_request().voice.name
    assert len(set(heard.values())) == len(heard)
    assert heard["alloy"] == "Ada"


def test_names_of_voices_are_mapped_by_a_table(serve: Serve) -> None:
    with serve(voice_names={"alloy": "Miles", "AF_Bella": "Linda"}, default_voice="Max") as running:
        for name, expected in {"Alloy": "Miles", "af_bella": "Linda", "echo": "Max", "Ada": "Ada", "": "Max"}.items():
            assert speak(running, voice=name).status_code == 200
            assert last_request().voice.name == expected
        assert refusal(speak(running, voice="af_sky")) == (404, "voice-not-found")


@pytest.mark.parametrize("name", ["", "tts-1", "gpt-4o-mini-tts-2025-12-15", "kokoro", "hexgrad/Kokoro-82M"])
def test_names_of_unknown_models_mean_the_served_model(service: RunningService, name: str) -> None:
    assert speak(service, model=name).status_code == 200
    if name:
        found = httpx2.get(f"{service.url}/v1/models/{name}").json()
        assert (found["id"], found["object"]) == (service.service.model_name, "model")


def test_another_model_of_this_program_is_not_replaced(service: RunningService) -> None:
    assert refusal(speak(service, model="Fun-CosyVoice3-0.5B-2512")) == (404, "model-not-found")
    assert refusal(httpx2.get(f"{service.url}/v1/models/Fun-CosyVoice3-0.5B-2512")) == (404, "model-not-found")


def test_strict_names_refuse_all_but_the_served_model(serve: Serve) -> None:
    with serve(is_strict=True) as running:
        assert refusal(speak(running, model="tts-1")) == (404, "model-not-found")
        for name in ("", running.service.model_name):
            assert speak(running, model=name).status_code == 200


def test_pcm_has_openais_sample_rate_whatever_that_of_the_model(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_model, "SAMPLE_RATE", 22_050)
    with serve() as running:
        pcm = speak(running)
        assert pcm.headers["content-type"] == "audio/pcm;rate=24000;channels=1"
        assert pcm.headers["x-sample-rate"] == "24000"
        assert len(pcm.content) == pytest.approx(2 * 2 * CHUNK_SAMPLES * 24_000 / 22_050, abs=4)
        own = speak(running, sample_rate=22_050)
        assert own.headers["content-type"] == "audio/pcm;rate=22050;channels=1"
        assert len(own.content) == 2 * 2 * CHUNK_SAMPLES
        wav = speak(running, response_format="wav")
        assert (wav.headers["content-type"], wav.headers["x-sample-rate"]) == ("audio/wav", "22050")
        assert speak(running, response_format="opus").headers["x-sample-rate"] == "48000"


def test_text_in_a_language_that_the_model_has_not_learned_is_refused(serve: Serve) -> None:
    with serve(folder=STUDIO_MINI) as running:
        refused = speak(running, input="今天天气很好。")
        assert refusal(refused) == (400, "unsupported-language")
        assert "allow_unsupported_language" in refused.json()["error"]["message"]
        assert speak(running, input="今天天气很好。", allow_unsupported_language=True).status_code == 200


def test_the_language_of_a_text_is_a_tag_or_a_name(serve: Serve) -> None:
    with serve() as running:
        for language, tag in (("de", "de"), ("en-GB", "en-GB"), ("German", "de"), ("auto", ""), ("", "")):
            assert speak(running, input="7 5", language=language).status_code == 200
            assert last_request().language == tag
        refused = speak(running, language="klingon")
    assert refusal(refused)[0] == 400
    assert "zh, en, ja" in refused.json()["error"]["message"]


def test_malformed_json_is_reported_with_its_place(service: RunningService) -> None:
    answer = httpx2.post(
        f"{service.url}/v1/audio/speech",
        content='{"input": "a secret",\n "voice" "Ada"}',
        headers={"content-type": "application/json"},
    )
    assert refusal(answer) == (400, "bad-request")
    assert "line 2, column 10" in answer.json()["error"]["message"]
    assert "secret" not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/v1/models", "/v1/audio/voices", "/metrics"])
def test_head_is_get_without_a_body(service: RunningService, path: str) -> None:
    answer = httpx2.head(f"{service.url}{path}")
    assert (answer.status_code, answer.content) == (200, b"")


def test_open_webui_lists_models_and_voices(service: RunningService) -> None:
    models = httpx2.get(f"{service.url}/v1/audio/models").json()["models"]
    assert [model["id"] for model in models] == [service.service.model_name]
    voices = httpx2.get(f"{service.url}/v1/audio/voices").json()["voices"]
    assert {voice["id"]: voice["name"] for voice in voices}["Ada"] == "Ada"


def test_wyoming_openai_recognises_the_service_and_lists_its_voices(service: RunningService) -> None:
    """Its probes: LocalAI, then Speaches, whose voices are part of the model."""
    assert httpx2.get(f"{service.url}/v1/readyz").status_code == 404
    assert httpx2.get(f"{service.url}/v1/../../health").text == "OK"
    voices = httpx2.get(f"{service.url}/v1/models/tts-1").json()["voices"]
    assert {"Ada", "Linda", "Max"} <= {voice["name"] for voice in voices}


@pytest.mark.parametrize("host", ["host.docker.internal:8807", "host.containers.internal"])
def test_programs_in_containers_reach_the_service_of_their_host(service: RunningService, host: str) -> None:
    assert httpx2.get(f"{service.url}/healthz", headers={"Host": host}).status_code == 200


def test_a_mixture_of_recordings_is_refused_with_a_sentence(service: RunningService) -> None:
    answer = speak(service, voice="Ada+Max")
    assert refusal(answer) == (400, "bad-request")
    assert "Ada+Max" in answer.json()["error"]["message"]
    assert refusal(speak(service, voice="Ada+Nobody")) == (404, "voice-not-found")


def test_speakers_of_a_model_are_mixed(tmp_path: Path) -> None:
    """The mixture points between their embeddings, whatever the lengths of these."""
    model = tmp_path / "CosyVoice-300M-SFT"
    shutil.copytree(noise_models.V1, model)
    embeddings = {name: torch.zeros(1, 192) for name in ("Mei", "Bob")}
    embeddings["Mei"][0, 0], embeddings["Bob"][0, 1] = 3.0, 5.0
    torch.save({name: {"embedding": each} for name, each in embeddings.items()}, model / "spk2info.pt")
    library = VoiceLibrary(tmp_path / "voices", speakers=lambda: list_speakers(model))
    with running_service.serve(library=library, folder=model) as running:
        assert speak(running, voice="mei + Bob").status_code == 200
        mixed = load_file(last_request().voice.clip)
        assert mixed["embedding"].tolist() == [0.5, 0.5, *[0.0] * 190]
        assert len(mixed["speech_tokens"]) == 0
        assert refusal(speak(running, voice="Mei+Ada")) == (400, "bad-request")
