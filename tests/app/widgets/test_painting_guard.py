"""Errors while painting are logged and do not stop the program."""

from __future__ import annotations

import ast
import logging
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QWidget
from pytestqt.qtbot import QtBot

import studio.app
from studio.app.widgets import painting_guard
from studio.app.widgets.painting_guard import FALLBACKS, paints_safely


@pytest.fixture(autouse=True)
def _forget_logged_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting_guard, "_logged", set())


@paints_safely
class BrokenModel(QAbstractListModel):
    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else 3

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return {}[role]


@paints_safely
class BrokenDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: object, index: QModelIndex) -> None:
        painter.setPen(Qt.GlobalColor.red)
        raise OverflowError("cannot convert float infinity to integer")


@paints_safely
class BrokenWidget(QWidget):
    num_paints = 0

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.drawLine(0, 0, 5, 5)
        self.num_paints += 1
        raise ZeroDivisionError(event)


def test_a_broken_model_and_a_broken_delegate_are_painted(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    view = QListView()
    qtbot.addWidget(view)
    view.setItemDelegate(BrokenDelegate(view))
    view.setModel(BrokenModel(view))
    view.resize(200, 200)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert not view.grab().isNull()
    messages = [record.getMessage() for record in caplog.records]
    assert any("BrokenDelegate.paint" in words for words in messages)
    assert any("BrokenModel.data" in words for words in messages)
    assert len(messages) == len(set(messages)), "each defect is logged once"


def test_the_painter_of_a_failed_paint_event_is_destroyed(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    widget = BrokenWidget()
    qtbot.addWidget(widget)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert not widget.grab().isNull()
    assert widget.num_paints == 3
    assert any("BrokenWidget.paintEvent" in record.getMessage() for record in caplog.records)


@pytest.mark.slow
def test_every_class_that_qt_calls_while_painting_is_guarded() -> None:
    unguarded = []
    for path in Path(studio.app.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ClassDef):
                continue
            methods = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            is_guarded = any(ast.unparse(decorator) == "paints_safely" for decorator in node.decorator_list)
            if methods & FALLBACKS.keys() and not is_guarded:
                unguarded.append(f"{path.name}: {node.name}")
    assert unguarded == []
