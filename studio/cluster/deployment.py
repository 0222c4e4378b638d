"""The application on a running Ray cluster: deployed, described, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ray
import yaml
from ray import serve

from studio import paths
from studio.cluster.application import REPLICA
from studio.cluster.node import require_head
from studio.cluster.options import ClusterOptions
from studio.errors import CannotServe
from studio.pipeline.request import EngineDescription
from studio.storage.atomic_file import atomic_write

APPLICATION = "timbre"
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ClusterState:
    """State of a cluster.

    ``replicas`` counts the replicas by state, such as RUNNING. ``metrics_urls`` are Ray's own metrics on each node.
    """

    nodes: int
    cores: float
    gpus: float
    status: str
    replicas: dict[str, int]
    metrics_urls: tuple[str, ...]


def deployment_file(options: ClusterOptions, port: int) -> dict[str, Any]:
    """Return the contents of Ray Serve's deployment file, which `serve run` and KubeRay also read."""
    return {
        "proxy_location": "HeadOnly",
        "http_options": {"host": options.host, "port": port},
        # Paths of requests contain names of voices.
        "logging_config": {"enable_access_log": False},
        "applications": [
            {
                "name": APPLICATION,
                "route_prefix": "/",
                "import_path": "studio.cluster.application:application",
                "args": options.model_dump(mode="json", exclude_defaults=True),
            }
        ],
    }


def deploy(address: str, options: ClusterOptions, port: int) -> EngineDescription:
    """Serve on ``port`` of the head node ``address``. Return when the first replica is ready.

    ``options.lines`` is replaced with the number of lines that the engine runs at once. Raise ``CannotServe``.
    """
    description = _run(address, options, port)
    if description.max_concurrent_lines != options.lines:
        more = options.model_copy(update={"lines": description.max_concurrent_lines})
        description = _run(address, more, port)
    return description


def cluster_state(address: str) -> ClusterState:
    """Return the state of the cluster with the head node ``address``. Raise ``CannotServe`` if it does not answer."""
    with _connected(address):
        resources = ray.cluster_resources()
        served = serve.status().applications.get(APPLICATION)
        replicas = {} if served is None else served.deployments[REPLICA].replica_states
        nodes = [node for node in ray.nodes() if node["Alive"]]
        return ClusterState(
            nodes=len(nodes),
            cores=resources.get("CPU", 0.0),
            gpus=resources.get("GPU", 0.0),
            status="NOT_SERVING" if served is None else str(served.status.value),
            replicas={str(getattr(state, "value", state)): number for state, number in replicas.items()},
            metrics_urls=tuple(
                f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics" for node in nodes
            ),
        )


def end_service(address: str) -> None:
    """Let running requests end, and end the application. Raise ``CannotServe``."""
    with _connected(address):
        serve.delete(APPLICATION)


def _run(address: str, options: ClusterOptions, port: int) -> EngineDescription:
    path = paths.data_folder() / "cluster.yaml"
    atomic_write(path, yaml.safe_dump(deployment_file(options, port)).encode())
    command = [sys.executable, "-m", "ray.serve.scripts", "run", "--non-blocking", "--address", address, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no input of others
    if ran.returncode:
        raise _refused(ran.stderr.strip().rpartition("\n")[2])
    with _connected(address):
        while (served := serve.status().applications[APPLICATION]).status != "RUNNING":
            if served.status == "DEPLOY_FAILED":
                raise _refused(served.message)
            time.sleep(_POLL_SECONDS)
        return asyncio.run(_describe())


async def _describe() -> EngineDescription:
    # Not a request to the replicas: Ray would count it as load for a while, and start another one.
    description: EngineDescription = await serve.get_app_handle(APPLICATION).describe.remote()
    return description


def _refused(reason: str) -> CannotServe:
    return CannotServe(
        "The cluster cannot serve ({reason}).", remedy="The logs are in /tmp/ray/session_latest.", reason=reason
    )


@contextlib.contextmanager
def _connected(address: str) -> Iterator[None]:
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    require_head(address)
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", namespace=APPLICATION)
    except (ConnectionError, RuntimeError) as error:
        raise CannotServe(
            "The cluster {address} does not answer ({reason}).",
            remedy="Start it with “timbre cluster start”.",
            address=address,
            reason=error,
        ) from error
    try:
        yield
    finally:
        ray.shutdown()
