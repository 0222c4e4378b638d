"""`timbre serve` from the command line: wrong options end with a sentence, and Ctrl+C ends the service."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import noise_models
import pytest
from terminal import Terminal

pytestmark = pytest.mark.timeout(180)


def test_another_address_needs_a_token(timbre: Terminal) -> None:
    ran = timbre("serve", "--host", "0.0.0.0", "--model", "noise-cosyvoice3")
    assert ran.status == 14
    assert "--token-file" in ran.err
    assert "cannot-serve" in ran.err


def test_a_port_in_use_is_named(timbre: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = timbre("serve", "--port", str(port), "--model", "noise-cosyvoice3")
    assert ran.status == 14
    assert f"port {port}" in ran.err


def test_an_unknown_voice_is_refused_before_the_start(timbre: Terminal) -> None:
    ran = timbre("serve", "--voice", "Nobody", "--model", "noise-cosyvoice3")
    assert ran.status == 7
    assert "Nobody" in ran.err


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [(["serve"], "studio.serve.running", "serve"), (["cluster", "start"], "ray", "cluster")],
)
def test_a_missing_extra_is_a_set_up_error_with_its_command(
    timbre: Terminal, monkeypatch: pytest.MonkeyPatch, command: list[str], library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    ran = timbre(*command)
    assert ran.status == 16
    assert "incomplete-installation" in ran.err
    assert "pip install" in ran.err
    assert f"[{extra}]" in ran.err
    assert "report" not in ran.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Ctrl+C of another process exists on POSIX")
def test_the_program_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    folders = {f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "LOGS")}
    command = [sys.executable, "-m", "studio.start", "serve", "--port", "0", "--model", str(noise_models.V3)]
    with subprocess.Popen(command, env=os.environ | folders, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        line = next(each for each in program.stderr if "serving" in each)
        url = line.split(" at ")[1].split(";")[0].removesuffix("/v1")
        assert httpx2.get(f"{url}/readyz").status_code == 200
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 130
