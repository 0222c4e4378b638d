"""Ctrl+C and `kill` during speech: playback stops, no partial file or process is left, the exit status is right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.timeout(120)
TESTS = Path(__file__).parent.parent
PROGRAM = """
    import sys
    from studio.cli.main import main
    from studio.cli.command_context import CommandContext
    from studio.worker.process import WorkerProcess

    if __name__ == "__main__":
        start_worker = lambda: WorkerProcess("fake_model:open_fake")
        sys.exit(main(sys.argv[1:], command_context=CommandContext(start_worker=start_worker)))
"""


def start(folder: Path, text: str, *arguments: str) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    (folder / "work").mkdir()
    places = {f"TIMBRE_{name}": str(folder / name.lower()) for name in ("DATA", "CACHE", "LOGS")}
    environment = {**os.environ, **places, "PYTHONPATH": f"{TESTS / 'fakes'}{os.pathsep}{TESTS.parent}"}
    voice = TESTS / "reference" / "inputs" / "prompt_a.wav"
    command = [sys.executable, folder / "program.py", "say", text, "--voice", voice, "-o", "out.wav", *arguments]
    return subprocess.Popen(
        command, cwd=folder / "work", env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def worker_of(program: subprocess.Popen[str], folder: Path) -> psutil.Process:
    """Wait until speech is being written, and return the worker."""
    give_up = time.monotonic() + 60
    while not any(_size(path) > 0 for path in (folder / "work").iterdir()):
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)
    children = psutil.Process(program.pid).children()
    (worker,) = (child for child in children if "spawn_main" in " ".join(child.cmdline()))
    return worker


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_stops_playback_and_leaves_no_file(tmp_path: Path, how: signal.Signals, status: int) -> None:
    with start(tmp_path, "breathe " * 500 + "wait") as program:
        worker = worker_of(program, tmp_path)
        program.send_signal(how)
        out, err = program.communicate(timeout=30)
    assert program.returncode == status
    assert out == ""
    assert "Traceback" not in err
    assert list((tmp_path / "work").iterdir()) == []
    assert not worker.is_running()


@pytest.mark.slow
def test_a_killed_worker_is_reported(tmp_path: Path) -> None:
    with start(tmp_path, "breathe " * 500 + "wait") as program:
        worker_of(program, tmp_path).kill()
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out) == (9, "")
    assert "timbre: The speech process ended unexpectedly (SIGKILL" in err
    assert "(worker-died)" in err
    assert list((tmp_path / "work").iterdir()) == []


def _size(path: Path) -> int:
    """Return the size of a file, 0 if it has been removed: the program tries whether it can write a file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
