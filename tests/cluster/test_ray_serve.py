"""The application on Ray itself: audio, a lost replica, limits, and metrics.

Run with RAY_AUTH_MODE=token where the extra "cluster" is installed.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import noise_models
import psutil
import pytest

if os.environ.get("RAY_AUTH_MODE") != "token":  # read when Ray is imported
    pytest.skip("needs RAY_AUTH_MODE=token", allow_module_level=True)
ray = pytest.importorskip("ray", reason="needs the extra “cluster”")

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
    from studio.cluster.options import ClusterOptions

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
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


def speak(url: str, text: str, **values: Any) -> httpx2.Response:
    body = {"input": text, "response_format": "pcm", **values}
    return httpx2.post(f"{url}/v1/audio/speech", json=body, timeout=120)


def replicas() -> list[psutil.Process]:
    """Return the processes of the replicas that have a worker."""
    found = psutil.Process().children(recursive=True)
    return [each for each in found if "ServeReplica:timbre:worker" in " ".join(each.cmdline())]


def test_a_line_whose_replica_is_killed_is_whole(url: str) -> None:
    text = " ".join(["rest"] * 20)  # two seconds
    whole = speak(url, text)
    assert whole.status_code == 200, whole.text
    with httpx2.stream("POST", f"{url}/v1/audio/speech", json={"input": text, "response_format": "pcm"}) as answer:
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


def test_web_pages_and_unknown_hosts_are_refused(url: str) -> None:
    assert httpx2.get(f"{url}/v1/models", headers={"Host": "evil.example"}).status_code == 403
    assert httpx2.get(f"{url}/v1/models", headers={"Origin": "https://evil.example"}).status_code == 403


def test_metrics_are_those_of_the_service_and_of_ray(url: str) -> None:
    names = {line.split("{")[0].split(" ")[0] for line in metrics(url) if not line.startswith("#")}
    assert "timbre_requests_total" in names
    assert any(name.startswith("ray_") for name in names)


def metrics(url: str) -> list[str]:
    return httpx2.get(f"{url}/metrics", timeout=60).text.splitlines()
