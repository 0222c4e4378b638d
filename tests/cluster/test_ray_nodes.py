"""Nodes of Ray: one that is lost, and those of the command.

Run with RAY_AUTH_MODE=token where the extra "cluster" is installed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import noise_models
import psutil
import pytest
from ray_service import free_port, metrics, require_ray, speak

ray = require_ray()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Ray
]
ROOT = Path(__file__).parents[2]


def test_a_line_whose_node_is_killed_is_whole() -> None:
    """Two nodes beside a head node without cores, so that each replica runs on a node of its own."""
    from ray import serve
    from ray.cluster_utils import Cluster

    from studio.cluster.application import build_application
    from studio.cluster.node import RAY_ENVIRONMENT
    from studio.cluster.options import ClusterOptions

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
