"""Background work: results are delivered on the window's thread, or dropped."""

from __future__ import annotations

import threading
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from pytestqt.qtbot import QtBot

from studio.app.background import run_in_background
from studio.errors import ClipTooShort, StudioError


def test_results_are_delivered_on_the_window_s_thread(qtbot: QtBot) -> None:
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


def test_a_job_is_destroyed_on_the_window_s_thread(qtbot: QtBot) -> None:
    """Widgets among it: destroyed on another thread, they take the program along."""
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
