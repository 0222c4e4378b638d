"""The node of this computer: found again by other commands, and ended with all of its processes."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from studio.cluster import node as node_module
from studio.cluster.node import Node, keep_private, remember, require_head, running_node, start_node, stop_node
from studio.errors import CannotServe

# Starts another process, and waits.
FAMILY = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"


def test_a_node_is_found_and_ended_with_its_processes() -> None:
    with subprocess.Popen([sys.executable, "-c", FAMILY]) as program:
        process = psutil.Process(program.pid)
        while not process.children():
            time.sleep(0.01)
        child = process.children()[0]
        node = Node(program.pid, process.create_time(), "127.0.0.1:6379", "http://127.0.0.1:8807")
        remember(node)
        assert running_node() == node
        stop_node(node, grace_seconds=0.1)
        program.wait(60)
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    assert running_node() is None


def test_another_process_with_the_same_id_is_not_the_node() -> None:
    process = psutil.Process()
    remember(Node(process.pid, process.create_time() - 1.0, "127.0.0.1:6379"))
    assert running_node() is None
    stop_node(Node(process.pid, process.create_time() - 1.0, "127.0.0.1:6379"))


def test_a_second_node_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 32)
    process = psutil.Process()
    node = Node(process.pid, process.create_time(), "10.0.0.5:6379")
    remember(node)
    try:
        with pytest.raises(CannotServe, match=r"10\.0\.0\.5:6379"):
            start_node(join="10.0.0.6:6379")
    finally:
        remember(Node(0, 0.0, ""))


def test_a_node_without_authentication_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(CannotServe, match="RAY_AUTH_MODE"):
        start_node(join=None)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Replace Ray's processes by short ones, of which the second says that it has started. Collect their commands."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 32)
    seen: list[list[str]] = []
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        seen.append(command)
        program = "import time; print('Ray runtime started.', flush=True); time.sleep(600)" if len(seen) > 1 else ""
        processes.append(popen([sys.executable, "-c", program], **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield seen
    if (node := running_node()) is not None:
        stop_node(node, grace_seconds=5.0)
    for process in processes:
        process.wait(60)


def test_joining_is_tried_again(commands: list[list[str]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        node = start_node(join=address, host="10.0.0.7")
    assert node.address == address
    assert len(commands) == 2
    assert {f"--address={address}", "--node-ip-address=10.0.0.7"} <= set(commands[0])


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_head_node_that_has_ended_is_an_error(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """Ray would wait for it without end."""
    monkeypatch.setattr(node_module, "_HEAD_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"{host}:{head.getsockname()[1]}"
    with pytest.raises(CannotServe, match="does not answer") as raised:
        start_node(join=address)
    assert address in str(raised.value)
    assert not commands


def test_an_address_without_a_port_is_an_error() -> None:
    with pytest.raises(CannotServe, match="does not answer"):
        require_head("10.0.0.6")


def test_a_head_node_that_does_not_start_is_an_error(commands: list[list[str]]) -> None:
    with pytest.raises(CannotServe, match="did not start"):
        start_node(join=None)
    assert len(commands) == 1
    assert {"--head", "--no-monitor"} <= set(commands[0])


def test_a_cluster_of_one_computer_may_be_private(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "1")
    keep_private()
    commands.append([])  # so that the next process starts
    assert start_node(join=None, port=6380, host="127.0.0.1").address == "127.0.0.1:6380"
    found = running_node()
    assert found is not None
    assert found.is_private
