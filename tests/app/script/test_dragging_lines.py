"""Reordering lines by drag and drop; dragged files are left to the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio.app.script.line_model import Column
from studio.app.script.text_painting import drag_pixmap
from studio.app.window import MainWindow

MOVE, LEFT, PLAIN = Qt.DropAction.MoveAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
WORDS = ["The line called one.", "The line called two.", "The line called three.", "The line called four."]


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.script.paste_text("\n\n".join(WORDS))
    bench.live(0.05)
    return window


def dragged(window: MainWindow, *rows: int) -> QMimeData:
    model = window.script._model
    return model.mimeData([model.index(row, column) for row in rows for column in range(len(Column))])


def drop(bench: Bench, window: MainWindow, mime: QMimeData, row: int, *, is_below: bool) -> bool:
    """Drop on the upper or lower half of ``row``; return whether the table accepts it."""
    rect = window.script.view.visualRect(window.script._model.index(row, Column.TEXT))
    return drop_at(bench, window, mime, QPoint(rect.center().x(), rect.bottom() - 2 if is_below else rect.top() + 2))


def drop_at(bench: Bench, window: MainWindow, mime: QMimeData, place: QPoint) -> bool:
    view = window.script.view
    enter = QDragEnterEvent(place, MOVE, mime, LEFT, PLAIN)
    move = QDragMoveEvent(place, MOVE, mime, LEFT, PLAIN)
    for event in (enter, move):
        event.ignore()
        QApplication.sendEvent(view.viewport(), event)
        if not event.isAccepted():
            return False
    event = QDropEvent(QPointF(place), MOVE, mime, LEFT, PLAIN)
    event.ignore()
    QApplication.sendEvent(view.viewport(), event)
    bench.live(0.02)
    return event.isAccepted()


def order(bench: Bench) -> list[int]:
    return [WORDS.index(text) for text in bench.texts]


def test_drag_a_line_up_and_undo(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 3), 1, is_below=False)
    assert order(bench) == [0, 3, 1, 2]
    assert window.script.current_line.text == WORDS[3]  # type: ignore[union-attr]
    bench.trigger("edit.undo")
    assert order(bench) == [0, 1, 2, 3]


def test_separate_lines_are_dropped_together(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 0, 2), 3, is_below=True)
    assert order(bench) == [1, 3, 0, 2]
    assert [WORDS.index(bench.session.editor.project.line(each).text) for each in window.script.selected_line_ids] == [
        0,
        2,
    ]


def test_drop_above_the_first_and_below_the_last_line(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 2), 0, is_below=False)
    assert order(bench) == [2, 0, 1, 3]
    assert drop(bench, window, dragged(window, 0, 1), 3, is_below=True)
    assert order(bench) == [1, 3, 2, 0]
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert order(bench) == [0, 1, 2, 3]


def test_drop_below_all_lines(bench: Bench, window: MainWindow) -> None:
    view = window.script.view
    place = QPoint(40, view.rowViewportPosition(3) + view.rowHeight(3) + 30)
    assert drop_at(bench, window, dragged(window, 1), place)
    assert order(bench) == [0, 2, 3, 1]


def test_the_drop_position_is_marked(window: MainWindow) -> None:
    view, mime = window.script.view, dragged(window, 3)
    marks = []
    place = view.visualRect(window.script._model.index(1, Column.TEXT)).topLeft() + QPoint(5, 3)
    below = QPoint(40, view.rowViewportPosition(3) + view.rowHeight(3) + 30)
    for point in (place, below):
        for event in (QDragEnterEvent(point, MOVE, mime, LEFT, PLAIN), QDragMoveEvent(point, MOVE, mime, LEFT, PLAIN)):
            QApplication.sendEvent(view.viewport(), event)
        marks.append(view._gap_area(view._gap).center().y() + 1)  # type: ignore[arg-type]
        assert not view.grab().isNull()
    assert marks == [view.rowViewportPosition(1), view.rowViewportPosition(3) + view.rowHeight(3)]
    QApplication.sendEvent(view.viewport(), QDragLeaveEvent())
    assert view._gap is None


def test_the_drag_label_is_small(window: MainWindow) -> None:
    pixmap = drag_pixmap("A very long line. " * 40, window)
    assert pixmap.deviceIndependentSize().width() < 300
    assert pixmap.deviceIndependentSize().height() < 40


@pytest.mark.slow
def test_a_drop_without_effect_makes_no_undo_step(bench: Bench, window: MainWindow) -> None:
    steps = bench.session.editor.undo_stack.count()
    for row, is_below in ((1, False), (1, True), (0, True), (2, False)):
        drop(bench, window, dragged(window, 1), row, is_below=is_below)
    assert order(bench) == [0, 1, 2, 3]
    assert bench.session.editor.undo_stack.count() == steps


def test_files_and_lines_of_other_scripts_are_refused(bench: Bench, window: MainWindow) -> None:
    files, foreign = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile("/x/voice.wav")])
    assert not drop(bench, window, files, 1, is_below=False)
    foreign.setData("application/x-timbre-lines", b"of-another-script")
    assert not drop(bench, window, foreign, 1, is_below=False)
    assert order(bench) == [0, 1, 2, 3]


def test_rows_can_be_dragged_but_cells_accept_no_drops(window: MainWindow) -> None:
    flags = window.script._model.index(0, Column.TEXT).flags()
    assert flags & Qt.ItemFlag.ItemIsDragEnabled
    assert not flags & Qt.ItemFlag.ItemIsDropEnabled
