"""Ten thousand connections that request nothing, to the program in its own process with its usual limits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import noise_models
import psutil
import pytest
from waiting import wait_until

from studio.serve import http_protocol

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.name != "posix", reason="limits of descriptors exist on POSIX"),
]
NUM_CONNECTIONS = 10_000
# The limit of a process that most systems set.
USUAL_LIMIT = 1024
# Descriptors of this process that are not connections.
OTHERS = 300
# Fewer than wait to be accepted; the system drops others, and repeats them only after a second.
NUM_AT_ONCE = 50


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Address and process of `timbre serve`."""
    folders = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "LOGS")}
    serve = [sys.executable, "-m", "studio.start", "serve", "--port", "0", "--model", str(noise_models.V3)]
    command = ["sh", "-c", f'ulimit -Sn {USUAL_LIMIT}; exec "$@"', "sh", *serve]
    with subprocess.Popen(command, env=os.environ | folders, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        line = next(each for each in program.stderr if "serving" in each)
        yield line.split(" at ")[1].split(";")[0].removesuffix("/v1"), psutil.Process(program.pid)
        program.terminate()


@contextmanager
def descriptors(number: int) -> Iterator[int]:
    """Permit ``number`` descriptors if the system does; yield the permitted number."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    permitted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, permitted), hard))
    try:
        yield permitted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_answered(address: tuple[str, int]) -> bool:
    """Return whether a request is answered; all earlier connections have been accepted then."""
    with socket.create_connection(address, timeout=60) as connection, suppress(ConnectionError):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return connection.recv(12) == b"HTTP/1.1 200"
    return False


def attack(url: str, process: psutil.Process, number: int) -> int:
    """Hold ``number`` connections until the service answers others. Return the most descriptors of ``process``."""
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    connections: list[socket.socket] = []
    most = 0
    try:
        for position in range(number):
            if position % NUM_AT_ONCE == 0:
                is_answered(address)
            connection = socket.create_connection(address, timeout=60)
            connections.append(connection)
            if position % 10 == 0:
                with suppress(ConnectionError):  # refused
                    connection.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX: ")  # and never more
            if position % 100 == 0:
                most = max(most, process.num_fds())
        wait_until(lambda: is_answered(address), 120.0)
    finally:
        for connection in connections:
            connection.close()
    return most


def test_ten_thousand_connections_leave_the_service_as_it_was(served: tuple[str, psutil.Process]) -> None:
    """Silent connections beyond the limit are refused, and the others end with their time limit."""
    url, process = served
    speech = {"input": "One.", "voice": "Ada", "response_format": "pcm"}
    assert httpx2.post(f"{url}/v1/audio/speech", json=speech, timeout=120).status_code == 200
    with descriptors(NUM_CONNECTIONS + OTHERS) as permitted:
        number = permitted - OTHERS
        attack(url, process, number // 10)  # so that memory is not counted that is kept for later use
        before, memory = process.num_fds(), process.memory_info().rss
        most = attack(url, process, number)
    assert http_protocol.MAX_CONNECTIONS < most < USUAL_LIMIT
    answer = httpx2.post(f"{url}/v1/audio/speech", json=speech, timeout=120)
    assert answer.status_code == 200
    assert answer.content
    wait_until(lambda: process.num_fds() <= before + 2, 120.0)
    assert process.memory_info().rss - memory < 16 << 20
