"""The application on Ray itself: audio, a lost replica, an export, limits, scaling, and the command.

Run with RAY_AUTH_MODE=token where the extra "cluster" is installed.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import noise_models
import psutil
import pytest
from fake_model import CHUNK_SAMPLES
from local_replicas import VOICE

from studio.export.speech_source import ExportItem
from studio.export.worker_source import WorkerSource
from studio.pipeline.request import RequestControl, SynthesisRequest
from studio.remote.address import ServerAddress
from studio.remote.remote_worker import RemoteWorker
from studio.worker.client import WorkerClient

if os.environ.get("RAY_AUTH_MODE") != "token":  # read when Ray is imported
    pytest.skip("needs RAY_AUTH_MODE=token", allow_module_level=True)
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # otherwise Ray writes a file that others can read
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


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


def metrics(url: str) -> list[str]:
    return httpx2.get(f"{url}/metrics", timeout=60).text.splitlines()


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


def test_a_line_whose_node_is_killed_is_whole() -> None:
    """Two nodes beside a head node without cores, so that each replica runs on a node of its own.

    Needs no other Ray in this process, so it runs after the tests with the fixture.
    """
    from ray import serve
    from ray.cluster_utils import Cluster

    from studio.cluster.application import build_application
    from studio.cluster.node import RAY_ENVIRONMENT
    from studio.cluster.options import ClusterOptions

    ray.shutdown()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in RAY_ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests" / "fakes"), *sys.path]))
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}, shutdown_at_exit=False
        )
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1)
            ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
            port = free_port()
            serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
            options = ClusterOptions(
                model=str(noise_models.V3), host="127.0.0.1", fewest_replicas=2, most_replicas=2, cores=1, queue=8
            )
            serve.run(build_application(options, "fake_model:open_fake"), name="timbre")
            url = f"http://127.0.0.1:{port}"
            text = " ".join(["rest"] * 30)  # three seconds
            whole = speak(url, text)
            assert whole.status_code == 200, whole.text
            for node in list(cluster.worker_nodes):
                with httpx2.stream(
                    "POST", f"{url}/v1/audio/speech", json={"input": text, "response_format": "pcm"}, timeout=180
                ) as answer:
                    blocks = answer.iter_raw()
                    received = next(blocks)
                    kill_node(cluster, node)
                    received += b"".join(blocks)
                assert received == whole.content
                cluster.add_node(num_cpus=1)
            # At least one of the two nodes ran the line that was being spoken.
            restarted = next(each for each in metrics(url) if each.startswith("timbre_restarted_requests_total"))
            assert float(restarted.split()[-1]) >= 1
            serve.shutdown()
        finally:
            ray.shutdown()
            cluster.shutdown()
            gc.collect()


def foreign_ports(pid: int) -> set[str]:
    """Return the addresses that the node listens on and other computers can reach, and the port of Ray's client server."""
    found = set()
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            listening = [each.laddr for each in process.net_connections() if each.status == psutil.CONN_LISTEN]
            found |= {
                f"{address.ip}:{address.port}"
                for address in listening
                if address.ip.removeprefix("::ffff:") not in ("127.0.0.1", "::1") or address.port == 10001
            }
    return found


def kill_node(cluster: Any, node: Any) -> None:
    """Kill all processes of ``node``, as a computer that loses its power does."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    for process in (raylet, *raylet.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    cluster.remove_node(node, allow_graceful=False)


def test_the_command_starts_describes_and_ends_a_cluster(tmp_path: Path) -> None:
    """With a Ray of its own, and the deployment file of Ray Serve."""
    folders = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "LOGS")}

    def timbre(*command: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "studio.start", "cluster", *command]
        return subprocess.run(
            words, env=os.environ | folders, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300
        )

    port, ray_port = free_port(), free_port()
    words = ["--port", str(port), "--ray-port", str(ray_port), "--num-cpus", "2", "--cores", "1", "--quality", "draft"]
    try:
        started = timbre("start", *words, "--node-address", "127.0.0.1")
        assert started.returncode == 0, started.stderr
        answer = speak(f"http://127.0.0.1:{port}", "One.", voice="Ada")
        assert answer.status_code == 200, answer.text
        answer = speak(f"http://127.0.0.1:{port}", "One.", voice="Ada", stream_format="json")
        assert answer.json()["quality"] == "draft"
        node = json.loads((tmp_path / "data" / "cluster.json").read_text())
        assert foreign_ports(node["pid"]) == set()
        assert {each.nice() for each in psutil.Process(node["pid"]).children(recursive=True)} == {
            psutil.Process().nice()
        }
        state = json.loads(timbre("status", "--json").stdout)
        assert (state["nodes"], state["status"], state["replicas"]) == (1, "RUNNING", {"RUNNING": 1})
        (metrics_url,) = state["metrics_urls"]
        assert "ray_" in httpx2.get(metrics_url, timeout=60).text
    finally:
        stopped = timbre("stop")
    assert stopped.returncode == 0, stopped.stderr
    assert timbre("status").returncode == 14
