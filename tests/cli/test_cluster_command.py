"""`timbre cluster` from the command line: without its libraries, it ends with a sentence."""

from __future__ import annotations

import importlib.util
import json
import socket

import psutil
import pytest
from terminal import Terminal

from studio.cluster.node import Node, remember

# Ray uses deprecated options of Pydantic.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
without_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
with_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


@without_ray
@pytest.mark.parametrize("command", [("start",), ("start", "--join", "10.0.0.5:6379")])
def test_missing_libraries_are_named(timbre: Terminal, command: tuple[str, ...]) -> None:
    ran = timbre("cluster", *command)
    assert ran.status == 16
    assert "ray" in ran.err
    assert "[cluster]" in ran.err


@with_ray
def test_ray_without_authentication_is_refused(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    ran = timbre("cluster", "start")
    assert ran.status == 14
    assert "RAY_AUTH_MODE=token" in ran.err


@with_ray
def test_a_cluster_for_other_computers_needs_a_token(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 32)
    ran = timbre("cluster", "start", "--host", "0.0.0.0")
    assert ran.status == 14
    assert "--token-file" in ran.err


@with_ray
def test_the_state_of_no_cluster_is_an_error(timbre: Terminal) -> None:
    ran = timbre("cluster", "status")
    assert ran.status == 14
    assert "timbre cluster start" in ran.err
    assert timbre("cluster", "stop").status == 0


@with_ray
def test_the_state_of_a_cluster_whose_head_has_ended_is_an_error(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.cluster.node._HEAD_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
    process = psutil.Process()
    remember(Node(process.pid, process.create_time(), address))
    try:
        ran = timbre("cluster", "status")
    finally:
        remember(Node(0, 0.0, ""))
    assert ran.status == 14
    assert address in ran.err


@with_ray
def test_a_service_that_replaces_a_worker_is_running(timbre: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray calls it unhealthy, even if no computer has room for the other worker."""
    from studio.cluster import deployment

    replicas = {"RUNNING": 1, "STARTING": 1}
    state = deployment.ClusterState(1, 1.0, 0.0, "UNHEALTHY", replicas, ("http://10.0.0.5:8080/metrics",))
    monkeypatch.setattr(deployment, "cluster_state", lambda _address: state)
    process = psutil.Process()
    remember(Node(process.pid, process.create_time(), "10.0.0.5:6379", "http://0.0.0.0:8807"))
    try:
        ran, as_json = timbre("cluster", "status"), timbre("cluster", "status", "--json")
    finally:
        remember(Node(0, 0.0, ""))
    assert "running, with fewer workers" in ran.out
    assert "1 running, 1 starting" in ran.out
    assert json.loads(as_json.out)["status"] == "UNHEALTHY"


def test_the_help_names_the_steps(timbre: Terminal) -> None:
    ran = timbre("cluster", "--help")
    assert ran.status == 0
    for step in ("RAY_AUTH_MODE=token", "timbre cluster start --join", "timbre cluster stop"):
        assert step in ran.out
