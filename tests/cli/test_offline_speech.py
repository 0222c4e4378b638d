"""With the network cut for every process of the program, it speaks as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_HOUSE = Path(__file__).resolve().parents[2]
_CLIP = _HOUSE / "tests" / "reference" / "inputs" / "prompt_a.wav"
# Python runs a module of this name before anything else, in the worker too.
_NO_NETWORK = """
import os, socket
real = socket.socket.connect
def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        with open(os.environ["ATTEMPTS"], "a") as file:
            print(address, file=file)
        raise OSError(101, "Network is unreachable")
    return real(self, address)
socket.socket.connect = connect
socket.getaddrinfo = lambda host, *rest, **more: connect(socket.socket(), host)
"""


@pytest.mark.timeout(300)
def test_a_sentence_is_spoken_without_a_network_and_without_trying_to_have_one(tmp_path: Path) -> None:
    blocker = tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(_NO_NETWORK)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(blocker), str(_HOUSE)]),
        "ATTEMPTS": str(tmp_path / "attempts"),
        **{f"TIMBRE_{name}": str(tmp_path / name.lower()) for name in ("DATA", "CACHE", "LOGS", "CONFIG")},
    }
    command = [sys.executable, "-m", "studio.start", "say", "It is 3 o'clock.", "--voice", str(_CLIP), "-o", "out.wav"]
    command += ["--precision", "float32"]  # no trial of others, which takes longer
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out.wav").stat().st_size > 1000
    assert not (tmp_path / "attempts").exists(), (tmp_path / "attempts").read_text()
    probe = [sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"]
    refused = subprocess.run(probe, env=environment, capture_output=True, text=True, check=False)
    assert "Network is unreachable" in refused.stderr, "the network was not cut"
