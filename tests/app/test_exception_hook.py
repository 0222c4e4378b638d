"""Unexpected exceptions in slots, threads and tasks are reported and logged once for each place."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from window_bench import Bench

from studio.app.application import ExceptionHook
from studio.errors import DiskFull, StudioError


@pytest.fixture
def told(bench: Bench) -> Iterator[list[StudioError]]:
    unexpected, errors = ExceptionHook(), []
    unexpected.failed.connect(errors.append)
    bench.loop.set_exception_handler(unexpected.on_loop_error)
    with unexpected.caught():
        yield errors


def fail() -> None:
    raise KeyError("Aunt Mary")


def test_an_exception_in_a_slot_is_reported_and_logged_once(
    bench: Bench, told: list[StudioError], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        QTimer.singleShot(0, fail)
    done: list[bool] = []
    QTimer.singleShot(20, lambda: done.append(True))
    bench.until(lambda: done)
    assert [(error.code, str(error.problem)) for error in told] == [
        ("internal-error", "Unexpected error: 'Aunt Mary'.")
    ]
    assert caplog.text.count("Traceback") == 1
    assert "in fail" in caplog.text


def test_the_same_line_may_fail_for_each_of_several_edits(bench: Bench, told: list[StudioError]) -> None:
    def refuse() -> None:
        raise DiskFull("The disk is full.")

    for _ in range(3):
        QTimer.singleShot(0, refuse)
    bench.until(lambda: len(told) == 3)


def test_an_exception_on_a_thread_is_reported(bench: Bench, told: list[StudioError]) -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    bench.until(lambda: told)
    assert told[0].code == "internal-error"


def test_an_exception_in_a_task_is_reported(bench: Bench, told: list[StudioError]) -> None:
    async def fill_the_disk() -> None:
        raise DiskFull("The disk is full.")

    task = asyncio.ensure_future(fill_the_disk(), loop=bench.loop)
    bench.until(task.done)
    del task
    bench.until(lambda: told)
    assert told[0].code == "disk-full"


def test_keyboard_interrupts_are_left_to_the_terminal(
    told: list[StudioError], capsys: pytest.CaptureFixture[str]
) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert told == []
    assert "KeyboardInterrupt" in capsys.readouterr().err


def test_the_hooks_are_restored() -> None:
    before = sys.excepthook, threading.excepthook
    with ExceptionHook().caught():
        assert sys.excepthook is not before[0]
    assert (sys.excepthook, threading.excepthook) == before
