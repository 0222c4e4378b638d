"""Background work: results are delivered on the GUI thread, or dropped."""

from __future__ import annotations

import ast
import asyncio
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import studio.app
from studio.app.background import end_background_threads, run_in_background, run_in_thread
from studio.errors import ClipTooShort, StudioError


def test_results_are_delivered_on_the_gui_thread(qtbot: QtBot) -> None:
    results: list[tuple[int, bool]] = []
    owner = QObject()
    run_in_background(
        owner,
        threading.get_ident,
        done=lambda other: results.append((other, threading.current_thread() is threading.main_thread())),
        failed=results.append,
    )
    qtbot.waitUntil(lambda: bool(results))
    ((other, is_here),) = results
    assert other != threading.get_ident()
    assert is_here


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "code"), [(ClipTooShort("Short.", remedy="More."), "clip-too-short"), (KeyError("x"), "internal-error")]
)
def test_errors_are_delivered_as_studio_errors(qtbot: QtBot, error: Exception, code: str) -> None:
    errors: list[StudioError] = []
    owner = QObject()
    run_in_background(owner, lambda: fail(error), done=errors.append, failed=errors.append)
    qtbot.waitUntil(lambda: bool(errors))
    assert errors[0].code == code


class Microphone:
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_a_result_for_a_deleted_owner_is_closed_and_dropped(qtbot: QtBot) -> None:
    gate = threading.Event()
    opened = Microphone()
    results: list[object] = []
    owner = QObject()

    def open_slowly() -> Microphone:
        gate.wait(60)
        return opened

    run_in_background(owner, open_slowly, done=results.append, failed=results.append)
    owner.deleteLater()
    QCoreApplication.sendPostedEvents(owner, QEvent.Type.DeferredDelete)
    gate.set()
    qtbot.waitUntil(lambda: opened.is_closed)
    assert results == []


def test_a_job_is_destroyed_on_the_gui_thread(qtbot: QtBot) -> None:
    """A job may refer to widgets, and destroying a widget on another thread crashes the program."""
    ends: list[bool] = []
    owner = QObject()

    class Thing(QObject):
        def work(self) -> None: ...

        def fail(self) -> None:
            raise ClipTooShort("Short.", remedy="More.")

    def begin(number: int) -> None:
        thing = Thing()
        weakref.finalize(thing, lambda: ends.append(threading.current_thread() is threading.main_thread()))
        run_in_background(owner, thing.fail if number % 2 else thing.work, done=lambda _: thing, failed=lambda _: thing)

    for number in range(400):
        begin(number)
        QCoreApplication.processEvents()
    qtbot.waitUntil(lambda: len(ends) == 400)
    assert all(ends), f"{ends.count(False)} on another thread"


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[qasync.QEventLoop]:
    loop = qasync.QEventLoop(qapp)
    yield loop
    end_background_threads()
    loop.close()


def test_awaited_work_runs_on_the_same_pool_and_returns_its_result(loop: qasync.QEventLoop) -> None:
    def work(number: int, *, text: str) -> tuple[int, str, str]:
        return number, text, threading.current_thread().name.partition("_")[0]

    assert loop.run_until_complete(run_in_thread(work, 3, text="three")) == (3, "three", "background")


@pytest.mark.parametrize("error", [ClipTooShort("Short.", remedy="More."), KeyError("x")])
def test_awaited_work_raises_its_own_exception(loop: qasync.QEventLoop, error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        loop.run_until_complete(run_in_thread(fail, error))
    assert raised.value is error
    assert [entry.name for entry in raised.traceback][-1] == "fail"


def test_long_work_does_not_delay_short_work(loop: qasync.QEventLoop) -> None:
    gate = threading.Event()

    async def scenario() -> str:
        long = [asyncio.ensure_future(run_in_thread(gate.wait, 60)) for _ in range(12)]
        try:
            async with asyncio.timeout(30):
                return await run_in_thread(lambda: "short")
        finally:
            gate.set()
            assert all(await asyncio.gather(*long))

    assert loop.run_until_complete(scenario()) == "short"


def test_cancelled_work_is_dropped_if_queued_and_ends_if_running(loop: qasync.QEventLoop) -> None:
    gate, calls = threading.Event(), []

    def block(number: int) -> None:
        gate.wait(60)
        calls.append(number)

    async def scenario() -> None:
        tasks = [asyncio.ensure_future(run_in_thread(block, number)) for number in range(17)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(result) for result in results} == {asyncio.CancelledError}
        gate.set()

    loop.run_until_complete(scenario())
    end_background_threads()
    assert sorted(calls) == list(range(16))


def test_an_awaited_job_is_destroyed_on_the_gui_thread(loop: qasync.QEventLoop) -> None:
    ends: list[bool] = []

    class Thing(QObject):
        def work(self, must_fail: bool) -> None:
            if must_fail:
                raise ClipTooShort("Short.", remedy="More.")

    def begin(number: int) -> asyncio.Task[Any]:
        thing = Thing()
        weakref.finalize(thing, lambda: ends.append(threading.current_thread() is threading.main_thread()))
        task = asyncio.ensure_future(run_in_thread(thing.work, number % 2 == 1))
        if number % 3 == 0:
            loop.call_soon(task.cancel)
        return task

    async def scenario() -> None:
        for start in range(0, 400, 20):
            await asyncio.gather(*(begin(number) for number in range(start, start + 20)), return_exceptions=True)
        while len(ends) < 400:
            await asyncio.sleep(0.001)

    loop.run_until_complete(asyncio.wait_for(scenario(), 60))
    assert all(ends), f"{ends.count(False)} on another thread"


def test_the_end_waits_for_running_and_queued_work(qapp: QApplication) -> None:
    owner = QObject()
    ended: list[int] = []
    gate = threading.Event()

    def work(number: int) -> None:
        gate.wait(60)
        ended.append(number)

    for number in range(40):
        run_in_background(owner, lambda number=number: work(number), done=pytest.fail, failed=pytest.fail)  # type: ignore[misc]
    gate.set()
    end_background_threads()
    assert sorted(ended) == list(range(40))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("background")]
    QCoreApplication.processEvents()  # delivers nothing


@pytest.mark.slow
def test_the_window_has_no_other_thread_pool() -> None:
    forbidden = {"to_thread", "run_in_executor", "ThreadPoolExecutor", "QThreadExecutor"}
    folder = Path(studio.app.__file__).parent
    modules = [path for path in sorted(folder.rglob("*.py")) if path != folder / "background.py"]
    assert len(modules) > 100
    found = {
        f"{path.relative_to(folder)}: {name}"
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (getattr(node, "attr", ""), getattr(node, "name", ""), getattr(node, "id", ""))
        if name in forbidden
    }
    assert found == set()
