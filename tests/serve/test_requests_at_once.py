"""Requests on a processor: several at once with the bundled model, and the forecast of gapless playback."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
import running_service
from fake_model import CHUNK_SAMPLES
from running_service import RunningService
from thread_worker import ThreadWorker

from studio.catalog.built_in_speakers import open_voice_library
from studio.paths import resources
from studio.pipeline.request import EngineOptions, SynthesisRequest
from studio.worker.process import WorkerProcess

pytestmark = pytest.mark.timeout(600)
MODEL = resources() / "models" / "studio-mini"


def speak(service: RunningService, text: str, **values: object) -> httpx2.Response:
    body = {"input": text, "voice": "Ada", "response_format": "pcm", **values}
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=body, timeout=300)
    assert answer.status_code == 200, answer.text
    return answer


def metric(service: RunningService, name: str) -> float:
    lines = httpx2.get(f"{service.url}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def test_a_header_and_a_metric_tell_when_playback_may_begin(service: RunningService) -> None:
    """The fake model forecasts a start 0.25 s after its own."""
    answer = speak(service, "one rest rest rest rest")
    assert len(answer.content) == 10 * CHUNK_SAMPLES
    assert 0.0 < float(answer.headers["x-playback-delay"]) <= 0.25
    assert metric(service, "timbre_gapless_start_seconds_sum") >= 0.25


def test_speech_that_is_complete_may_be_played_at_once(service: RunningService) -> None:
    json = speak(service, "one", stream_format="json")
    assert json.headers["x-playback-delay"] == "0.00"


def test_a_long_text_gives_its_slot_to_a_client_without_audio(service: RunningService) -> None:
    """After its current sentence, and continues with the next one where it was."""
    long = "\n".join(f"rest rest rest {number}" for number in range(6))
    whole = speak(service, long).content
    began = len(requests_of(service))
    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(speak, service, long)
        while len(requests_of(service)) == began:
            time.sleep(0.01)
        short = speak(service, "one two").content
        assert not talking.done(), "the short text did not wait for the end of the long one"
        assert talking.result().content == whole
    assert len(short) == 4 * CHUNK_SAMPLES
    sent = requests_of(service)[began:]
    assert [request.text for request in sent] == [long, "one two", long]
    assert 0 < sent[-1].num_skipped < 6


def requests_of(service: RunningService) -> list[SynthesisRequest]:
    requests = ThreadWorker.created[-1].server._model.requests  # type: ignore[union-attr]
    return [request for request in requests if isinstance(request, SynthesisRequest)]


@pytest.mark.slow
def test_two_requests_are_spoken_at_once_and_as_one_after_the_other() -> None:
    options = EngineOptions(
        speech_lm_precision="float32", num_threads=2, runs_lines_in_processes=True, keeps_line_processes=True
    )
    texts = ["The captain folded the map, and smiled.", "Then he looked toward the distant shore."]
    with running_service.serve(
        library=open_voice_library(), folder=MODEL, start_worker=WorkerProcess, engine_options=options
    ) as running:
        assert metric(running, "timbre_lines_at_once") == 2
        alone = [speak(running, text, seed=5).content for text in texts]
        most = 0
        with ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(speak, running, text, seed=5) for text in texts]
            while not all(answer.done() for answer in answers):
                most = max(most, running.service.queue.num_running)
                time.sleep(0.01)
            assert [answer.result().content for answer in answers] == alone
    assert most == 2
