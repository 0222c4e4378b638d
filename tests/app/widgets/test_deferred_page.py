"""Pages that are created when they are first shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.app.widgets.deferred_page import DeferredPage


def two_fields() -> QWidget:
    page = QWidget()
    row = QHBoxLayout(page)
    for name in ("first inside", "second inside"):
        row.addWidget(QLineEdit(objectName=name))
    return page


def test_the_content_is_created_once_when_the_page_is_shown(qtbot: QtBot) -> None:
    made: list[QWidget] = []

    def make() -> QWidget:
        made.append(two_fields())
        return made[-1]

    page = DeferredPage(make)
    qtbot.addWidget(page)
    assert not made
    for _ in range(2):
        page.show()
        assert made[0].isVisible()
        page.hide()
    assert len(made) == 1


def test_the_tab_key_reaches_the_content_between_the_neighbours_of_the_page(qtbot: QtBot) -> None:
    window, page = QWidget(), DeferredPage(two_fields)
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    before, after = QLineEdit(objectName="before"), QLineEdit(objectName="after")
    for widget in (before, page, after):
        column.addWidget(widget)
    page.hide()
    window.show()
    page.show()
    window.activateWindow()
    before.setFocus()
    qtbot.waitUntil(before.hasFocus)
    reached = []
    for _ in range(4):
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget().objectName())
    assert reached == ["first inside", "second inside", "after", "before"]
