"""The worker that starts before the command line is imported."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import pytest

from studio.cli import early_worker
from studio.cli.early_worker import worker_starter


class StartedWorker:
    started: ClassVar[list[StartedWorker]] = []

    def start(self) -> None:
        StartedWorker.started.append(self)


def test_a_command_that_speaks_starts_its_worker_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_worker, "WorkerProcess", StartedWorker)
    monkeypatch.setattr(StartedWorker, "started", [])
    start_worker = worker_starter(["say", "Hello.", "--voice", "Ada"])
    (early,) = StartedWorker.started
    assert start_worker() is early
    assert start_worker() is not early, "a worker that ended is replaced"


@pytest.mark.parametrize(
    "words", [[], ["doctor"], ["say", "--help"], ["say", "Hello.", "--server", "a"], ["say", "Hello.", "--server=a"]]
)
def test_other_commands_start_no_worker(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_worker, "WorkerProcess", StartedWorker)
    monkeypatch.setattr(StartedWorker, "started", [])
    assert worker_starter(words) is StartedWorker
    assert not StartedWorker.started


def test_a_worker_that_cannot_start_early_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: StartedWorker) -> None:
        raise OSError("no processes left")

    monkeypatch.setattr(early_worker, "WorkerProcess", StartedWorker)
    monkeypatch.setattr(StartedWorker, "start", fail)
    assert worker_starter(["say", "Hello."]) is StartedWorker


def test_the_worker_starts_before_numpy_is_imported() -> None:
    code = (
        "import sys, studio.start, studio.cli.early_worker; sys.exit(bool({'numpy', 'asyncio'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
