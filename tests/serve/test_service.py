"""The service under use: voices, conversion, full queues, clients that leave, and workers that end."""

from __future__ import annotations

import dataclasses
import io
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import numpy as np
import psutil
import pytest
import running_service
import soundfile
from fake_model import CHUNK_SAMPLES, FakeModel, open_fake
from running_service import RunningService, Serve, last_request
from thread_worker import ThreadWorker
from waiting import wait_until

from studio import paths
from studio.model.options import Quality
from studio.pipeline.request import EngineOptions
from studio.voices.library import VoiceLibrary

pytestmark = pytest.mark.timeout(300)
CLIP = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"


def speak(service: RunningService, text: str, **values: object) -> httpx2.Response:
    body = {"input": text, "response_format": "pcm", **values}
    return httpx2.post(f"{service.url}/v1/audio/speech", json=body, timeout=120)


def expected_pcm(num_words: int) -> bytes:
    levels = [0.1 * (position % 10) for position in range(1, num_words + 1)]
    samples = np.repeat(np.array(levels, np.float32), CHUNK_SAMPLES)
    file = io.BytesIO()
    soundfile.write(file, samples, 24_000, "PCM_16", format="RAW")
    return file.getvalue()


@pytest.mark.slow
def test_a_voice_is_added_used_and_removed(service: RunningService) -> None:
    url = f"{service.url}/v1/audio/voices"
    fields = {"name": "Nora Ñ", "consent": "Nora, for this test", "transcript": "What she says."}
    added = httpx2.post(url, data=fields, files={"audio_sample": ("a.wav", CLIP.read_bytes())}, timeout=60)
    assert added.status_code == 201, added.text
    assert added.json()["voice"]["name"] == "Nora Ñ"
    listed = {voice["id"]: voice for voice in httpx2.get(url).json()["voices"]}
    assert listed["Nora Ñ"]["transcript"] == "What she says."
    assert listed["Ada"]["is_bundled"]
    assert speak(service, "one", voice="nora ñ").status_code == 200
    assert service.service.library.get("Nora Ñ").consent.by == "Nora, for this test"
    again = httpx2.post(url, data=fields, files={"audio_sample": ("a.wav", CLIP.read_bytes())}, timeout=60)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "voice-exists")
    assert httpx2.delete(f"{url}/Nora Ñ").json() == {"id": "Nora Ñ", "object": "audio.voice.deleted", "deleted": True}
    assert speak(service, "one", voice="Nora Ñ").status_code == 404
    refused = httpx2.delete(f"{url}/Ada")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad-request")
    assert [each.voice.name for each in service.service.library.trashed()] == ["Nora Ñ"]


def test_a_voice_needs_consent(service: RunningService) -> None:
    for fields in ({"name": "Nora"}, {"name": "Nora", "consent": " "}):
        answer = httpx2.post(
            f"{service.url}/v1/audio/voices", data=fields, files={"audio_sample": ("a.wav", CLIP.read_bytes())}
        )
        assert answer.status_code == 400
        assert "consent" in answer.json()["error"]["message"]


def test_a_recording_is_converted(service: RunningService) -> None:
    answer = httpx2.post(
        f"{service.url}/v1/audio/conversions",
        data={"voice": "Ada", "response_format": "pcm"},
        files={"file": ("speech.wav", CLIP.read_bytes())},
        timeout=60,
    )
    assert answer.content == expected_pcm(2)
    broken = httpx2.post(
        f"{service.url}/v1/audio/conversions", data={"voice": "Ada"}, files={"file": ("speech.wav", b"no sound")}
    )
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "unreadable-clip")


def test_quality_is_that_of_the_request_or_of_the_service(serve: Serve) -> None:
    models: list[FakeModel] = []

    def open_recorded(folder: Path, options: EngineOptions) -> FakeModel:
        models.append(open_fake(folder, options))
        return models[-1]

    with serve(start_worker=lambda: ThreadWorker(open_recorded), default_quality=Quality.FAST) as service:
        ends = [
            speak(service, "one", stream_format="json", **values).json()
            for values in ({}, {"quality": "draft"}, {"quality": "exact"})
        ]
        assert speak(service, "one", quality="best").status_code == 400
        httpx2.post(
            f"{service.url}/v1/audio/conversions",
            data={"voice": "Ada", "response_format": "pcm", "quality": "draft"},
            files={"file": ("speech.wav", CLIP.read_bytes())},
            timeout=60,
        )
    assert [end["quality"] for end in ends] == ["fast", "draft", "exact"]
    qualities = [request.quality for request in models[-1].requests]
    assert qualities == [Quality.FAST, Quality.DRAFT, Quality.EXACT, Quality.DRAFT]


def test_the_service_has_spoken_in_its_quality_before_it_is_ready(serve: Serve) -> None:
    """The first client would wait half a minute for the comparison of solvers on a busy computer."""
    with serve(default_quality=Quality.FAST, default_voice="Max", warms_up=True) as service:
        request = last_request()
        assert (request.quality, request.voice.name) == (Quality.FAST, "Max")
        assert httpx2.get(f"{service.url}/readyz").status_code == 200


def test_instructions_that_the_model_does_not_follow_are_left_out(serve: Serve) -> None:
    """Clients written for OpenAI send them to any model."""
    with serve(folder=paths.resources() / "models" / "studio-mini") as service:
        for instructions, instruct, preset in (
            ("Speak cheerfully.", None, None),
            ("Please whisper.", "Please whisper.", None),
            ("Whisper", None, "v3.voice.whisper"),
        ):
            assert speak(service, "one", instructions=instructions).status_code == 200
            assert (last_request().instruct, last_request().preset) == (instruct, preset)


def test_a_service_whose_voice_cannot_be_used_becomes_ready(tmp_path: Path) -> None:
    """Requests report what is wrong with it."""
    empty = VoiceLibrary(tmp_path / "empty", built_in=tmp_path / "none")
    with running_service.serve(library=empty, warms_up=True) as service:
        assert speak(service, "one").json()["error"]["code"] == "voice-not-found"


def test_styles_and_states_are_described(service: RunningService) -> None:
    styles = httpx2.get(f"{service.url}/v1/audio/styles").json()
    assert {"id", "name", "name_zh", "instruction"} == set(styles["styles"][0])
    assert httpx2.get(f"{service.url}/readyz").json() == {"status": "ready"}
    paths = httpx2.get(f"{service.url}/openapi.json").json()["paths"]
    assert {"/v1/audio/speech", "/v1/audio/voices", "/v1/audio/conversions", "/v1/models"} <= set(paths)
    assert httpx2.get(f"{service.url}/docs").status_code == 404, "its page would load scripts from another server"
    answer = httpx2.get(f"{service.url}/nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown-path")
    assert "GET /nothing" in answer.json()["error"]["message"]
    answer = httpx2.get(f"{service.url}/v1/audio/speech")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "unknown-path")


@pytest.mark.slow
def test_metrics_count_without_texts_and_names(service: RunningService) -> None:
    speak(service, "secret one two", voice="Ada")
    speak(service, "nothing", voice="Ada")
    speak(service, "one", voice="Nobody")
    speak(service, "one", speed=9)
    httpx2.get(f"{service.url}/v1/models", headers={"Host": "evil.example"})
    text = httpx2.get(f"{service.url}/metrics").text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["timbre_audio_seconds_total"]) > 0
    assert float(values['timbre_failures_total{code="nothing-to-speak"}']) >= 1
    assert float(values['timbre_stage_seconds_total{stage="flow"}']) > 0
    for code in ("voice-not-found", "bad-request", "not-allowed"):
        assert float(values[f'timbre_failures_total{{code="{code}"}}']) >= 1
    assert float(values['timbre_voice_cache_total{hit="yes"}']) >= 1
    assert float(values["timbre_device_memory_bytes"]) == 12e6
    assert float(values["timbre_lines_at_once"]) == 1
    assert float(values["timbre_running_requests"]) == 0
    assert "Ada" not in text
    assert "secret" not in text


@pytest.mark.slow
def test_a_full_queue_answers_429_with_the_time_to_return(serve: Serve) -> None:
    with serve(max_waiting=1) as running, ThreadPoolExecutor(2) as pool:
        speaking = [pool.submit(speak, running, "rest " * 20) for _ in range(2)]
        wait_until(lambda: running.service.queue.num_waiting == 1)
        answer = speak(running, "one")
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too-many-requests")
        assert int(answer.headers["retry-after"]) >= 1
        assert all(each.result().content == expected_pcm(20) for each in speaking)


@pytest.mark.slow
def test_as_many_lines_are_spoken_at_once_as_the_engine_takes(serve: Serve) -> None:
    """Engines are replaced while the model is in use; the next requests notice."""
    with serve() as running, ThreadPoolExecutor(3) as pool:
        model = ThreadWorker.created[-1].server._model
        assert model is not None
        model.description = dataclasses.replace(model.description, max_concurrent_lines=3)  # type: ignore[misc]
        assert running.service.queue.num_slots == 1
        speak(running, "one")
        assert "timbre_lines_at_once 3.0" in httpx2.get(f"{running.url}/metrics").text
        speaking = [pool.submit(speak, running, "rest " * 10) for _ in range(3)]
        wait_until(lambda: running.service.queue.num_running == 3)
        assert all(each.result().content == expected_pcm(10) for each in speaking)


@pytest.mark.slow
def test_a_client_that_leaves_cancels_its_request(serve: Serve) -> None:
    with serve() as running:
        with httpx2.stream(
            "POST", f"{running.url}/v1/audio/speech", json={"input": "one wait", "response_format": "pcm"}
        ) as answer:
            next(answer.iter_raw(2 * CHUNK_SAMPLES))
        wait_until(lambda: running.service.queue.num_running == 0)
        assert speak(running, "one two").content == expected_pcm(2)
        assert "timbre_cancelled_total 1.0" in httpx2.get(f"{running.url}/metrics").text


@pytest.mark.slow
def test_a_client_that_leaves_the_queue_never_reaches_the_worker(serve: Serve) -> None:
    with serve() as running:
        with httpx2.stream(
            "POST", f"{running.url}/v1/audio/speech", json={"input": "one wait", "response_format": "pcm"}
        ) as first:
            blocks = first.iter_raw(2 * CHUNK_SAMPLES)  # kept: its end would close the connection
            next(blocks)
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(f"{running.url}/v1/audio/speech", json={"input": "never"}, timeout=1)
            wait_until(lambda: running.service.queue.num_waiting == 0)
        assert speak(running, "one").status_code == 200
        model = ThreadWorker.created[-1].server._model
        assert model is not None
        assert "never" not in [request.text for request in model.requests]  # type: ignore[union-attr]


@pytest.mark.slow
def test_requests_that_are_running_end_before_the_service(serve: Serve) -> None:
    with ThreadPoolExecutor(1) as pool:
        with serve() as running:
            speaking = pool.submit(speak, running, "rest " * 20)
            wait_until(lambda: running.service.queue.num_running == 1)
        assert speaking.result().content == expected_pcm(20)


@pytest.mark.slow
def test_no_line_is_lost_when_the_worker_is_killed(serve: Serve) -> None:
    """The worker is killed in the middle of eight lines; each is the same as if it had not been."""
    slowest = 0.0
    with serve(start_worker=running_service.fake_process) as running, ThreadPoolExecutor(1) as pool:
        for seed in range(8):
            speaking = pool.submit(speak, running, "rest " * 10)
            heard = running.service.metrics
            before = heard.restarted_requests._value.get()
            wait_until(lambda: running.service.queue.num_running == 1 and bool(running.client._running))
            time.sleep(random.Random(seed).uniform(0.0, 0.8))
            running.kill_worker()
            assert speaking.result().content == expected_pcm(10)
            assert heard.restarted_requests._value.get() <= before + 1
            started = time.monotonic()
            assert speak(running, "one").content == expected_pcm(1)
            slowest = max(slowest, time.monotonic() - started)
        assert "timbre_worker_restarts_total 8.0" in httpx2.get(f"{running.url}/metrics").text
    assert slowest < 30, "a new worker starts in time"


@pytest.mark.slow
def test_a_line_that_always_ends_the_worker_fails_alone(serve: Serve) -> None:
    with serve(start_worker=running_service.fake_process) as running:
        answer = speak(running, "exit")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "worker-died")
        assert speak(running, "one two").content == expected_pcm(2)


@pytest.mark.slow
def test_many_requests_leave_nothing_behind(serve: Serve) -> None:
    """200 requests of 16 clients, one in five broken off, one in ten invalid."""
    with serve(max_waiting=200) as running:
        speak(running, "one")
        process = psutil.Process()
        before = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
        wrong: list[str] = []

        def work(number: int) -> None:
            client = {"X-Client-Id": str(number % 16)}
            url = f"{running.url}/v1/audio/speech"
            if number % 10 == 9:
                answer = httpx2.post(url, json={"input": "one", "voice": "nobody"}, headers=client, timeout=120)
                if answer.status_code != 404:
                    wrong.append(f"{number}: {answer.status_code}")
            elif number % 5 == 4:
                body = {"input": "breathe " * 30, "response_format": "pcm"}
                with httpx2.stream("POST", url, json=body, headers=client, timeout=120) as answer:
                    next(answer.iter_raw(CHUNK_SAMPLES))
            else:
                num_words = 1 + number % 7
                body = {"input": "one " * num_words, "response_format": "pcm"}
                answer = httpx2.post(url, json=body, headers=client, timeout=120)
                if answer.content != expected_pcm(num_words):
                    wrong.append(f"{number}: {answer.status_code}, {len(answer.content)} bytes")

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(work, range(200)))
        assert wrong == []
        wait_until(lambda: running.service.queue.num_running == 0 and not running.client._running)
        wait_until(lambda: (process.num_fds() if hasattr(process, "num_fds") else process.num_handles()) <= before + 2)
        assert running.service.queue.num_waiting == 0


@pytest.mark.slow
def test_nothing_of_the_service_runs_after_it(serve: Serve) -> None:
    others = set(threading.enumerate())
    with serve() as running:
        speak(running, "one")
        port = running.port
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"http://127.0.0.1:{port}/healthz")
    wait_until(
        lambda: not [each for each in threading.enumerate() if each.name == "test-service" and each not in others]
    )
