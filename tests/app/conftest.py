"""Tests of the window need no screen."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
_FOLDER = Path(__file__).parent


@pytest.fixture(autouse=True)
def _garbage_is_collected_here() -> Iterator[None]:
    """Collect garbage as the program does, so that no widget of an earlier test is destroyed on another thread."""
    from studio.app.application import collect_if_due

    gc.disable()
    yield
    collect_if_due()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Destroy what is left of the windows after their last test, before others collect garbage on their own threads."""
    yield
    if nextitem is None or not nextitem.path.is_relative_to(_FOLDER):
        gc.collect()


@pytest.fixture(autouse=True)
def _theme_is_reset() -> Iterator[None]:
    """Remove the theme that a test has applied to the application, which all tests share."""
    from PySide6.QtGui import QFontDatabase, QPalette
    from PySide6.QtWidgets import QApplication

    yield
    application = QApplication.instance()
    if isinstance(application, QApplication) and application.styleSheet():
        application.setStyleSheet("")
        application.setPalette(QPalette())
        application.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))


class _PatientBot(QtBot):
    """Waits up to a minute, because a busy machine may need more than the five seconds of pytest-qt."""

    def waitUntil(self, callback: Callable[[], object], *, timeout: int = 60_000) -> None:  # noqa: N802 - pytest-qt's name
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = 60_000, **options: Any) -> Any:  # noqa: N802 - pytest-qt's name
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
    return _PatientBot(request)


@pytest.fixture
def report_of(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], str]:
    """Return a function that presses the visible "Copy report" button of a widget with the keyboard and returns the copy."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication

    from studio.app.widgets.copy_report import CopyReportButton
    from studio.catalog.machine import MachineFacts
    from studio.health import error_report

    real, machine = error_report.error_report, MachineFacts("A processor", 2, 8 << 30, 5 << 30, 1 << 40, None)
    monkeypatch.setattr(error_report, "error_report", lambda error: real(error, look=lambda: machine))

    def press(place: Any) -> str:
        (button,) = [each for each in place.findChildren(CopyReportButton) if each.isVisibleTo(place)]
        assert button.text() == "Copy report"
        assert button.isEnabled()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
        QGuiApplication.clipboard().clear()
        qtbot.keyClick(button, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: button.text() == "Copied")
        return QGuiApplication.clipboard().text()

    return press


@pytest.fixture
def make_bench(qapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that creates sessions and windows in separate folders; see ``Bench``."""
    from window_bench import Bench

    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    made: list[Bench] = []

    def make(**options: Any) -> Bench:
        bench = Bench(qapp, tmp_path, **options)
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Any]) -> Any:
    return make_bench()
