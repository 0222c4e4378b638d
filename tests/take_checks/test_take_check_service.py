"""Real check processes: killed, crashing, hung, and out of memory, each twice."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import psutil
import pytest

from studio.take_checks.process import TakeCheckProcess
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest, TranscriptRequest
from studio.take_checks.service import TakeCheckService

pytestmark = pytest.mark.timeout(180)
WAIT_SECONDS = 60


def open_process() -> TakeCheckProcess:
    return TakeCheckProcess("fake_check_engine:open_engine")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TakeCheckService]:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))
    client = TakeCheckService(open_process)
    yield client
    client.close()
    client.join(WAIT_SECONDS)


def request(text: str, *, recognizer: str = "auto", seconds: float = 0.5) -> CheckRequest:
    return CheckRequest(np.zeros(round(seconds * 16_000), np.float32), 16_000, text, recognizer=recognizer)


def checked(client: TakeCheckService, text: str, *, recognizer: str = "auto") -> TakeCheck:
    return client.submit(request(text, recognizer=recognizer)).result(WAIT_SECONDS)


def test_the_process_starts_with_the_first_request_and_is_reused(client: TakeCheckService) -> None:
    assert client.pid is None
    assert checked(client, "one").recognizer == "obedient"
    pid = client.pid
    assert pid is not None
    assert checked(client, "two").verdict is Verdict.GOOD
    assert client.pid == pid


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("killed", "checker-died"),
        ("exit", "checker-died"),
        ("memory", "out-of-memory"),
        ("wrong", "internal-error"),
    ],
)
def test_a_failing_recogniser_leaves_the_other_checks_each_time(client: TakeCheckService, text: str, code: str) -> None:
    for _ in range(2):
        failed = checked(client, text)
        assert failed == TakeCheck(Verdict.NOT_CHECKED, error_code=code)
        assert checked(client, f"bad {text}") == TakeCheck(Verdict.BAD, error_code=code)
        assert checked(client, "next").recognizer == "obedient"


@pytest.mark.slow
def test_a_process_that_always_dies_leaves_the_take_unchecked_each_time(client: TakeCheckService) -> None:
    for _ in range(2):
        assert checked(client, "always killed") == TakeCheck(Verdict.NOT_CHECKED, error_code="checker-died")
        assert checked(client, "always exit", recognizer="off").error_code == "checker-died"
        assert checked(client, "fine").verdict is Verdict.GOOD


@pytest.mark.slow
def test_a_process_killed_from_outside_between_and_during_checks_is_replaced(client: TakeCheckService) -> None:
    for _ in range(2):
        assert checked(client, "fine").recognizer == "obedient"
        assert client.pid is not None
        os.kill(client.pid, signal.SIGKILL)  # between
        assert checked(client, "fine").error_code in ("", "checker-died")
        assert checked(client, "fine").recognizer == "obedient"
        pid = client.pid
        sleeping = client.submit(request("sleep"))
        assert pid is not None
        os.kill(pid, signal.SIGKILL)  # during
        assert sleeping.result(WAIT_SECONDS).error_code == "checker-died"


@pytest.mark.slow
def test_a_hung_process_is_stopped_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path))
    client = TakeCheckService(open_process, timeout_seconds=3.0)
    try:
        checked(client, "warm")
        for _ in range(2):
            hung = client.submit(request("sleep", seconds=0.05))  # long audio has more time
            assert hung.result(WAIT_SECONDS).error_code == "checker-hung"
    finally:
        client.close()
        client.join(WAIT_SECONDS)


@pytest.mark.slow
def test_a_process_that_cannot_start_is_reported_each_time(
    client: TakeCheckService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: TakeCheckProcess) -> None:
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as broken:
        broken.setattr(TakeCheckProcess, "start", fail)
        for _ in range(2):
            assert checked(client, "fine") == TakeCheck(Verdict.NOT_CHECKED, error_code="checker-died")
    assert checked(client, "fine").verdict is Verdict.GOOD


@pytest.mark.slow
def test_a_cancelled_request_is_not_checked(client: TakeCheckService) -> None:
    first, second = client.submit(request("one")), client.submit(request("always killed"))
    assert second.cancel()
    assert first.result(WAIT_SECONDS).verdict is Verdict.GOOD
    with pytest.raises(CancelledError):
        second.result(WAIT_SECONDS)
    assert checked(client, "next").verdict is Verdict.GOOD


@pytest.mark.slow
def test_a_long_running_check_stops_when_it_is_cancelled(client: TakeCheckService) -> None:
    running = client.submit(request("sleep", seconds=100))
    deadline = time.monotonic() + WAIT_SECONDS
    while client.pid is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running.cancel()
    assert checked(client, "next").verdict is Verdict.GOOD


@pytest.mark.slow
def test_closing_cancels_what_waits_and_ends_the_process(client: TakeCheckService) -> None:
    checked(client, "warm")
    pid = client.pid
    running, waiting = client.submit(request("sleep")), client.submit(request("two"))
    client.close()
    client.join(WAIT_SECONDS)
    assert running.cancelled()
    assert waiting.cancelled()
    assert pid is not None
    assert not psutil.pid_exists(pid)
    assert client.submit(request("late")).cancelled()


@pytest.mark.slow
def test_an_idle_process_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path))
    client = TakeCheckService(open_process, idle_release_seconds=0.1)
    try:
        for _ in range(2):
            assert checked(client, "fine").recognizer == "obedient"
            deadline = time.monotonic() + WAIT_SECONDS
            while client.pid is not None and time.monotonic() < deadline:
                time.sleep(0.01)
            assert client.pid is None
    finally:
        client.close()
        client.join(WAIT_SECONDS)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="niceness")
def test_the_process_has_low_priority_and_no_network(client: TakeCheckService) -> None:
    assert checked(client, "priority").error_code == ""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert checked(client, f"network {server.getsockname()[1]}").error_code == "internal-error"


@pytest.mark.slow
def test_a_transcript_that_fails_has_the_code_of_the_error(client: TakeCheckService) -> None:
    silence = np.zeros(8000, np.float32)
    for _ in range(2):
        assert client.transcribe(TranscriptRequest(silence, 16_000, "killed")).result(WAIT_SECONDS).error_code == (
            "checker-died"
        )
        assert client.transcribe(TranscriptRequest(silence, 16_000, "hello")).result(WAIT_SECONDS).text == "hello"


@pytest.mark.slow
def test_the_client_imports_neither_torch_nor_onnxruntime() -> None:
    script = (
        "import sys, studio.take_checks.service; print(sorted({'torch', 'onnxruntime', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
