"""Files held over the window: it says what would happen, and hands them on when let go."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio.app.widgets.drop_overlay import DropOverlay
from studio.app.widgets.elided_label import ElidedLabel

COPY, LEFT, PLAIN = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def describe(paths: list[Path]) -> str | None:
    sounds = [path for path in paths if path.suffix == ".wav"]
    return f"Make {len(sounds)} voices" if sounds else None


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    widget.show()
    return widget


def held(*urls: QUrl) -> QMimeData:
    mime = QMimeData()
    mime.setUrls(list(urls))
    return mime


def enter(target: QWidget, mime: QMimeData) -> bool:
    event = QDragEnterEvent(QPoint(10, 10), COPY, mime, LEFT, PLAIN)
    event.ignore()
    QApplication.sendEvent(target, event)
    return event.isAccepted()


def test_files_are_greeted_and_handed_on(window: QWidget, qtbot: QtBot) -> None:
    overlay = DropOverlay(window, describe)
    mime = held(QUrl.fromLocalFile("/x/a b.wav"), QUrl.fromLocalFile("/x/声.wav"))
    assert enter(window, mime)
    assert overlay.isVisible()
    assert overlay.geometry() == window.rect()
    assert overlay.accessibleDescription() == "Make 2 voices"
    assert not overlay.grab().isNull()
    assert enter(overlay, mime), "it lies over the window now, so that is where the pointer is"
    with qtbot.waitSignal(overlay.paths_dropped) as dropped:
        QApplication.sendEvent(overlay, QDropEvent(QPointF(10, 10), COPY, mime, LEFT, PLAIN))
    assert dropped.args == [[Path("/x/a b.wav"), Path("/x/声.wav")]]
    assert not overlay.isVisible()


@pytest.mark.parametrize("url", [QUrl.fromLocalFile("/x/a.exe"), QUrl("https://example.org/a.wav")])
def test_what_cannot_be_used_is_not_welcome(window: QWidget, url: QUrl) -> None:
    overlay = DropOverlay(window, describe)
    assert not enter(window, held(url))
    assert not overlay.isVisible()


def test_it_goes_when_the_files_go_and_follows_the_window(window: QWidget, qtbot: QtBot) -> None:
    overlay = DropOverlay(window, describe)
    mime = held(QUrl.fromLocalFile("/x/a.wav"))
    enter(window, mime)
    enter(overlay, mime)
    window.resize(400, 300)
    qtbot.waitUntil(lambda: overlay.size() == window.size())
    QApplication.sendEvent(overlay, QDragLeaveEvent())
    assert not overlay.isVisible()


def test_a_long_line_gets_dots_and_a_tool_tip(qtbot: QtBot) -> None:
    label = ElidedLabel("a rather long name of a voice")
    qtbot.addWidget(label)
    label.resize(60, 20)
    assert label.shown_text.endswith("…")
    label.show()
    assert label.toolTip() == label.text()
    label.resize(600, 20)
    assert label.shown_text == label.text()
    assert label.toolTip() == ""
    assert label.accessibleName() == label.text()
