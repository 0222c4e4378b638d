"""The node of this computer: found again by other commands, and ended with all of its processes."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from studio.cluster.node import Node, remember, running_node, start_node, stop_node
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
