"""The overlay for dragged files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio.app.widgets.drop_overlay import DraggedFiles, DropOverlay, DropPrompt
from studio.app.widgets.elided_label import ElidedLabel

COPY, LEFT, PLAIN = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


LEFT_HALF = QRect(0, 0, 150, 200)


def describe(dragged: DraggedFiles) -> DropPrompt | None:
    """Ctrl changes the effect over the left half of the window."""
    recordings = [path for path in dragged.paths if path.suffix == ".wav"]
    if not recordings:
        return None
    is_left = LEFT_HALF.contains(dragged.place)
    words = "Convert it" if is_left and dragged.has_control else f"Create {len(recordings)} voices"
    return DropPrompt(words, LEFT_HALF if is_left else None)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    widget.show()
    return widget


def make_mime_data(*urls: QUrl) -> QMimeData:
    mime = QMimeData()
    mime.setUrls(list(urls))
    return mime


def enter(target: QWidget, mime: QMimeData, actions: Qt.DropAction = COPY) -> bool:
    event = QDragEnterEvent(QPoint(10, 10), actions, mime, LEFT, PLAIN)
    event.ignore()
    QApplication.sendEvent(target, event)
    return event.isAccepted()


def test_dragged_files_are_accepted_and_reported(window: QWidget, qtbot: QtBot) -> None:
    overlay = DropOverlay(window, describe)
    mime = make_mime_data(QUrl.fromLocalFile("/x/a b.wav"), QUrl.fromLocalFile("/x/声.wav"))
    assert enter(window, mime)
    assert overlay.isVisible()
    assert overlay.geometry() == window.rect()
    assert overlay.accessibleDescription() == "Create 2 voices"
    assert not overlay.grab().isNull()
    assert enter(overlay, mime), "the overlay covers the window, so it receives the next event"
    with qtbot.waitSignal(overlay.dropped) as dropped:
        QApplication.sendEvent(overlay, QDropEvent(QPointF(10, 20), COPY, mime, LEFT, PLAIN))
    assert dropped.args == [DraggedFiles((Path("/x/a b.wav"), Path("/x/声.wav")), QPoint(10, 20))]
    assert not overlay.isVisible()


def test_the_text_follows_the_mouse_and_the_ctrl_key(window: QWidget, qtbot: QtBot) -> None:
    overlay = DropOverlay(window, describe)
    mime = make_mime_data(QUrl.fromLocalFile("/x/a.wav"))
    for target in (window, overlay):  # the overlay then covers the window
        enter(target, mime)

    def move(x: int, keys: Qt.KeyboardModifier) -> str:
        event = QDragMoveEvent(QPoint(x, 50), COPY, mime, LEFT, keys)
        event.ignore()
        QApplication.sendEvent(overlay, event)
        assert event.isAccepted()
        assert not overlay.grab().isNull()
        return overlay.accessibleDescription()

    control = Qt.KeyboardModifier.ControlModifier
    assert [move(20, control), move(20, PLAIN), move(200, control)] == [
        "Convert it",
        "Create 1 voices",
        "Create 1 voices",
    ]
    with qtbot.waitSignal(overlay.dropped) as dropped:
        QApplication.sendEvent(overlay, QDropEvent(QPointF(20, 50), COPY, mime, LEFT, control))
    assert dropped.args[0].has_control


def test_a_file_is_never_moved(window: QWidget) -> None:
    overlay = DropOverlay(window, describe)
    mime = make_mime_data(QUrl.fromLocalFile("/x/a.wav"))
    both = COPY | Qt.DropAction.MoveAction
    for target in (window, overlay):
        enter(target, mime, both)
    event = QDropEvent(QPointF(10, 10), both, mime, LEFT, PLAIN)
    event.setDropAction(Qt.DropAction.MoveAction)
    QApplication.sendEvent(overlay, event)
    assert event.dropAction() == COPY


@pytest.mark.parametrize("url", [QUrl.fromLocalFile("/x/a.exe"), QUrl("https://example.org/a.wav")])
def test_unusable_files_are_rejected(window: QWidget, url: QUrl) -> None:
    overlay = DropOverlay(window, describe)
    assert not enter(window, make_mime_data(url))
    assert not overlay.isVisible()


def test_the_overlay_hides_on_leave_and_follows_the_window(window: QWidget, qtbot: QtBot) -> None:
    overlay = DropOverlay(window, describe)
    mime = make_mime_data(QUrl.fromLocalFile("/x/a.wav"))
    enter(window, mime)
    enter(overlay, mime)
    window.resize(400, 300)
    qtbot.waitUntil(lambda: overlay.size() == window.size())
    QApplication.sendEvent(overlay, QDragLeaveEvent())
    assert not overlay.isVisible()


def test_long_text_is_elided_with_a_tool_tip(qtbot: QtBot) -> None:
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
