"""Ctrl+C, `kill` and a dying worker during an export: finished files are kept, the next run resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import soundfile

pytestmark = pytest.mark.timeout(120)
TESTS = Path(__file__).parent.parent
PROGRAM = """\
import sys
from studio.cli.main import main
from studio.cli.command_context import CommandContext
from studio.worker.process import WorkerProcess

if __name__ == "__main__":
    start_worker = lambda: WorkerProcess("fake_model:open_fake")
    sys.exit(main(sys.argv[1:], command_context=CommandContext(start_worker=start_worker)))
"""
# The third line is never finished, as far as anybody can wait.
SLOW = ["One line.", "Two words.", "breathe " * 500 + "wait", "Four words here now."]


def start(folder: Path, lines: list[str]) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "script.csv").write_text("text\n" + "\n".join(lines), "utf-8")
    places = {f"TIMBRE_{name}": str(folder / name.lower()) for name in ("DATA", "CACHE", "LOGS")}
    environment = {**os.environ, **places, "PYTHONPATH": f"{TESTS / 'fakes'}{os.pathsep}{TESTS.parent}"}
    voice = TESTS / "reference" / "inputs" / "prompt_a.wav"
    command = [sys.executable, "program.py", "export", "script.csv", "--voice", str(voice), "--out", "out"]
    command += ["--pattern", "{index}", "--files", "lines", "joined"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_for(program: subprocess.Popen[str], path: Path) -> None:
    give_up = time.monotonic() + 60
    while not path.exists():
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)


def names(folder: Path) -> list[str]:
    """Return the names of all files, including hidden ones."""
    return sorted(path.name for path in (folder / "out").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_export_can_be_resumed(tmp_path: Path, how: signal.Signals, status: int) -> None:
    with start(tmp_path, SLOW) as program:
        wait_for(program, tmp_path / "out" / "002.wav")
        children = psutil.Process(program.pid).children(recursive=True)
        program.send_signal(how)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out) == (status, "")
    assert "Traceback" not in err
    assert "Finished files are kept; run the same command to resume." in err
    assert names(tmp_path) == ["001.wav", "002.wav"]
    assert psutil.wait_procs(children, timeout=60)[1] == []

    before = (tmp_path / "out" / "001.wav").stat().st_mtime_ns
    with start(tmp_path, [*SLOW[:2], "Three words here.", SLOW[3]]) as program:
        _, err = program.communicate(timeout=60)
    assert program.returncode == 0, err
    assert names(tmp_path) == ["001.wav", "002.wav", "003.wav", "004.wav", "script.wav"]
    assert (tmp_path / "out" / "001.wav").stat().st_mtime_ns == before
    seconds = 0.1 * sum(len(line.split()) for line in [*SLOW[:2], "Three words here.", SLOW[3]]) + 3 * 0.3
    assert soundfile.info(tmp_path / "out" / "script.wav").frames == round(24_000 * seconds)


@pytest.mark.slow
def test_a_worker_crash_fails_one_line(tmp_path: Path) -> None:
    with start(tmp_path, ["One line.", "then exit", "Three words here."]) as program:
        _, err = program.communicate(timeout=60)
    assert program.returncode == 9
    assert "line 2: The speech process ended unexpectedly" in err
    assert names(tmp_path) == ["001.wav", "003.wav"]
