"""The application on Ray itself: audio, a lost replica, an export, limits and scaling.

Run with RAY_AUTH_MODE=token where the extra "cluster" is installed.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import noise_models
import psutil
import pytest
from fake_model import CHUNK_SAMPLES
from local_replicas import VOICE
from ray_service import free_port, metrics, require_ray, speak

from studio.export.speech_source import ExportItem
from studio.export.worker_source import WorkerSource
from studio.pipeline.request import RequestControl, SynthesisRequest
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.worker.client import WorkerClient

ray = require_ray()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Ray
]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Run an application with two replicas of the fake model, and a queue of two requests."""
    from ray import serve

    from studio.cluster.application import build_application
    from studio.cluster.node import RAY_ENVIRONMENT
    from studio.cluster.options import ClusterOptions

    port = free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for name, value in RAY_ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests" / "fakes"), *sys.path]))
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
            options = ClusterOptions(
                model=str(noise_models.V3), host="127.0.0.1", fewest_replicas=2, most_replicas=2, cores=1, queue=2
            )
            serve.run(build_application(options, "fake_model:open_fake"), name="timbre")
            yield f"http://127.0.0.1:{port}"
            serve.shutdown()
        finally:
            ray.shutdown()
            gc.collect()  # Ray does not wait for its processes, which would be a warning at the end of the tests


def replicas() -> list[psutil.Process]:
    """Return the processes of the replicas that have a worker."""
    found = psutil.Process().children(recursive=True)
    return [each for each in found if "ServeReplica:timbre:worker" in " ".join(each.cmdline())]


def test_a_line_whose_replica_is_killed_is_whole(url: str) -> None:
    text = " ".join(["rest"] * 20)  # two seconds
    whole = speak(url, text)
    assert whole.status_code == 200, whole.text
    with httpx2.stream(
        "POST", f"{url}/v1/audio/speech", json={"input": text, "response_format": "pcm"}, timeout=120
    ) as answer:
        blocks = answer.iter_raw()
        received = next(blocks)
        running = [each for each in replicas() if each.children()]
        assert running
        # Either may run the line: all are killed.
        for each in running:
            os.kill(each.pid, signal.SIGKILL)
        received += b"".join(blocks)
    assert received == whole.content
    restarted = next(each for each in metrics(url) if each.startswith("timbre_restarted_requests_total"))
    assert float(restarted.split()[-1]) >= 1


def test_an_export_keeps_its_order_when_a_replica_is_killed(url: str) -> None:
    items = [ExportItem(str(number), number, " ".join(["rest"] * number)) for number in range(1, 9)]
    requests = {item.key: SynthesisRequest(item.text, VOICE) for item in items}

    async def export() -> list[int]:
        server = ServerAddress(url)
        async with WorkerClient(Path("remote"), start_worker=lambda: RemoteWorker(server)) as client:
            description = await client.load()
            assert description.max_concurrent_lines == 2, "one line for each replica"
            source = WorkerSource(client, asyncio.get_running_loop(), requests, RequestControl())
            source.expect(items)
            lengths = []
            for number, item in enumerate(items):
                if number == 2:  # the next lines are being spoken
                    os.kill(next(each.pid for each in replicas() if each.children()), signal.SIGKILL)
                lengths.append(len((await asyncio.to_thread(source.synthesize_waveform, item)).samples))
        return lengths

    assert asyncio.run(export()) == [number * CHUNK_SAMPLES for number in range(1, 9)]


def test_errors_of_the_model_are_answers(url: str) -> None:
    answer = speak(url, "nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "nothing-to-speak")


def test_a_full_queue_is_refused(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: speak(url, " ".join(["rest"] * 10)), range(8)))
    codes = sorted(answer.status_code for answer in answers)
    assert set(codes) == {200, 429}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1


def test_answers_and_uploads_may_be_large(url: str) -> None:
    """Messages between Ray's proxy and the service have a limit of their own."""
    words = 800
    answer = speak(url, " ".join(["one"] * words), stream_format="json")
    assert answer.status_code == 200, answer.text
    assert len(base64.b64decode(answer.json()["audio"])) == 2 * words * CHUNK_SAMPLES
    assert len(answer.content) > 4 << 20
    digest = "0" * 64
    upload = httpx2.post(f"{url}/v1/engine/voices/{digest}", files={"file": ("a.wav", bytes(6 << 20))}, timeout=60)
    assert upload.status_code == 400, upload.text


def test_a_client_that_leaves_ends_its_line(url: str) -> None:
    body = {"input": " ".join(["rest"] * 600), "response_format": "pcm"}  # a minute
    before = num_cancelled(url)
    with httpx2.stream("POST", f"{url}/v1/audio/speech", json=body, timeout=120) as answer:
        next(answer.iter_raw())
    deadline = time.monotonic() + 40.0
    while num_cancelled(url) == before:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def num_cancelled(url: str) -> float:
    return sum(float(line.split()[-1]) for line in metrics(url) if line.startswith("timbre_cancelled_total"))


def test_web_pages_and_unknown_hosts_are_refused(url: str) -> None:
    assert httpx2.get(f"{url}/v1/models", headers={"Host": "evil.example"}).status_code == 403
    assert httpx2.get(f"{url}/v1/models", headers={"Origin": "https://evil.example"}).status_code == 403


def test_the_number_of_replicas_follows_the_load(url: str) -> None:
    """Runs last, because it replaces the application."""
    from ray import serve

    from studio.cluster.application import build_application
    from studio.cluster.options import ClusterOptions

    def num_running() -> int:
        states = serve.status().applications["timbre"].deployments["worker"].replica_states
        return sum(number for state, number in states.items() if str(getattr(state, "value", state)) == "RUNNING")

    def wait_for(number: int) -> None:
        deadline = time.monotonic() + 120.0
        while num_running() != number:
            assert time.monotonic() < deadline
            time.sleep(0.5)

    serve.delete("timbre")
    options = ClusterOptions(
        model=str(noise_models.V3), host="127.0.0.1", fewest_replicas=1, most_replicas=2, cores=1, queue=8
    )
    serve.run(build_application(options, "fake_model:open_fake", downscale_seconds=1.0), name="timbre")
    assert num_running() == 1
    is_enough = threading.Event()

    def keep_asking() -> set[int]:
        codes = set()
        while not is_enough.is_set():
            codes.add(speak(url, " ".join(["rest"] * 10)).status_code)
        return codes

    with ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(keep_asking) for _ in range(4)]
        try:
            wait_for(2)
        finally:
            is_enough.set()
        assert set().union(*(each.result() for each in clients)) == {200}
    wait_for(1)
    assert speak(url, "one").status_code == 200
