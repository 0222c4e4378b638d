"""Every page and dialog: named controls, one filled button, and a size for a small screen at 200 %."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSlider,
    QTabBar,
    QTabWidget,
    QTextEdit,
    QToolBar,
    QWidget,
)
from thread_worker import ThreadWorker

from screenshots.pages import Stage
from studio.app.background import end_background_threads
from studio.app.translation import use_language

CONTROLS = (
    QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QProgressBar, QSlider,
    QTabWidget, QTextEdit,
)  # fmt: skip
# Parts of Qt's own controls, named after these.
PARTS_OF = (QAbstractSpinBox, QComboBox, QDockWidget, QLineEdit, QTabBar, QToolBar)
# A laptop screen of 1280 by 800 at 200 %, without the title bar.
MIN_SCREEN = (640, 360)
WITHOUT_BUTTONS = ("manual",)


@pytest.fixture
def stage(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    use_language(qapp, QLocale("en_US"))
    loop = qasync.QEventLoop(qapp)
    asyncio.set_event_loop(loop)
    made = Stage(tmp_path, "en", ThreadWorker)
    yield made
    loop.run_until_complete(made.close())
    end_background_threads()
    loop.close()
    asyncio.set_event_loop(None)


def is_filled(button: QPushButton, page: QWidget) -> bool:
    return button.property("role") == "primary" and button.isVisibleTo(page)


def unnamed(page: QWidget) -> list[str]:
    """Return the controls of which a screen reader would announce only the kind."""
    labelled = {label.buddy() for label in page.findChildren(QLabel)}
    return [
        f"{type(control).__name__} in {type(control.parentWidget()).__name__}"
        for control in page.findChildren(QWidget)
        if isinstance(control, CONTROLS)
        and control.isVisibleTo(page)
        and not is_part(control)
        and control not in labelled
        and not name_of(control)
    ]


def name_of(control: QWidget) -> str:
    words = f"{control.text()}{control.toolTip()}" if isinstance(control, QAbstractButton) else ""
    return control.accessibleName() or words


def is_part(control: QWidget) -> bool:
    at: Any = control.parentWidget()
    return (
        isinstance(control, QHeaderView)
        or control.objectName().startswith("qt_")
        or isinstance(at, PARTS_OF)
        or (at is not None and isinstance(at.parentWidget(), QComboBox))
    )


@pytest.mark.slow
def test_every_control_is_named_and_every_dialog_fits(stage: Stage) -> None:
    loop = asyncio.get_event_loop()
    faults = []
    num_pages = 0
    for name, page in stage.pages():
        loop.run_until_complete(asyncio.sleep(0.01))
        num_pages += 1
        faults += [f"{name}: {control}" for control in unnamed(page)]
        if isinstance(page, QMainWindow):
            continue
        least = page.minimumSizeHint().expandedTo(page.minimumSize())
        if least.width() > MIN_SCREEN[0] or least.height() > MIN_SCREEN[1]:
            faults.append(f"{name}: needs {least.width()} by {least.height()}")
        first = page.focusWidget() or page.nextInFocusChain()
        if (
            not isinstance(first, QWidget)
            or not page.isAncestorOf(first)
            or first.focusPolicy() is Qt.FocusPolicy.NoFocus
        ):
            faults.append(f"{name}: keys reach nothing")
        filled = [button.text() for button in page.findChildren(QPushButton) if is_filled(button, page)]
        if len(filled) != 1 and name not in WITHOUT_BUTTONS:
            faults.append(f"{name}: filled buttons {filled}")
        page.close()
    assert faults == []
    assert num_pages > 25
