"""The application on a running Ray cluster: deployed, described, and ended."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import ray
from ray import serve

from studio.cluster.application import REPLICA, application
from studio.cluster.options import ClusterOptions
from studio.errors import CannotServe
from studio.pipeline.request import EngineDescription

APPLICATION = "timbre"


@dataclass(frozen=True, slots=True)
class ClusterState:
    """State of a cluster. ``replicas`` counts the replicas by state, such as RUNNING."""

    nodes: int
    cores: float
    gpus: float
    status: str
    replicas: dict[str, int]


def deploy(address: str, options: ClusterOptions, port: int) -> EngineDescription:
    """Serve on ``port`` of the head node ``address``. Return when the first replica is ready.

    ``options.lines`` is replaced with the number of lines that the engine runs at once. Raise ``StudioError``.
    """
    with _connected(address):
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": options.host, "port": port},
            logging_config={"enable_access_log": False},
        )
        try:
            description = _run(options)
            if description.max_concurrent_lines != options.lines:
                description = _run(options.model_copy(update={"lines": description.max_concurrent_lines}))
        except RuntimeError as error:
            raise CannotServe(
                "The cluster cannot serve ({reason}).", remedy="The logs are in /tmp/ray/session_latest.", reason=error
            ) from error
    return description


def cluster_state(address: str) -> ClusterState:
    """Return the state of the cluster with the head node ``address``. Raise ``CannotServe`` if it does not answer."""
    with _connected(address):
        resources = ray.cluster_resources()
        served = serve.status().applications.get(APPLICATION)
        replicas = {} if served is None else served.deployments[REPLICA].replica_states
        return ClusterState(
            nodes=sum(node["Alive"] for node in ray.nodes()),
            cores=resources.get("CPU", 0.0),
            gpus=resources.get("GPU", 0.0),
            status="NOT_SERVING" if served is None else str(served.status.value),
            replicas={str(getattr(state, "value", state)): number for state, number in replicas.items()},
        )


def end_service(address: str) -> None:
    """Let running requests end, and end the application. Raise ``CannotServe``."""
    with _connected(address):
        serve.delete(APPLICATION)


def _run(options: ClusterOptions) -> EngineDescription:
    ingress = serve.run(application(options), name=APPLICATION, route_prefix="/")
    # Not a request to the replicas: Ray would count it as load for a while, and start another one.
    description: EngineDescription = ingress.describe.remote().result()
    return description


@contextlib.contextmanager
def _connected(address: str) -> Iterator[None]:
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
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
