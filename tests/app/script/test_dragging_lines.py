"""Lines are put in another order with the mouse; files held over the table are the window's business."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio.app.script.drag_pixmap import drag_pixmap
from studio.app.script.line_model import Column
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
    """On the upper or lower half of ``row``; whether the table would have it."""
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


def test_a_line_is_dragged_up_and_the_move_undone(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 3), 1, is_below=False)
    assert order(bench) == [0, 3, 1, 2]
    assert window.script.current_line.text == WORDS[3]  # type: ignore[union-attr]
    bench.trigger("edit.undo")
    assert order(bench) == [0, 1, 2, 3]


def test_lines_that_lay_apart_come_together_where_they_are_dropped(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 0, 2), 3, is_below=True)
    assert order(bench) == [1, 3, 0, 2]
    assert [WORDS.index(bench.session.editor.project.line(each).text) for each in window.script.selected_line_ids] == [
        0,
        2,
    ]


def test_above_the_first_and_below_the_last(bench: Bench, window: MainWindow) -> None:
    assert drop(bench, window, dragged(window, 2), 0, is_below=False)
    assert order(bench) == [2, 0, 1, 3]
    assert drop(bench, window, dragged(window, 0, 1), 3, is_below=True)
    assert order(bench) == [1, 3, 2, 0]
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert order(bench) == [0, 1, 2, 3]


def test_below_all_lines_is_the_end(bench: Bench, window: MainWindow) -> None:
    view = window.script.view
    place = QPoint(40, view.rowViewportPosition(3) + view.rowHeight(3) + 30)
    assert drop_at(bench, window, dragged(window, 1), place)
    assert order(bench) == [0, 2, 3, 1]


def test_the_place_is_marked_while_lines_are_held_over_it(window: MainWindow) -> None:
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


def test_the_label_on_the_mouse_is_small(window: MainWindow) -> None:
    picture = drag_pixmap("A very long line. " * 40, window)
    assert picture.deviceIndependentSize().width() < 300
    assert picture.deviceIndependentSize().height() < 40


def test_a_line_dropped_where_it_is_makes_no_step_of_undo(bench: Bench, window: MainWindow) -> None:
    steps = bench.session.editor.undo_stack.count()
    for row, is_below in ((1, False), (1, True), (0, True), (2, False)):
        drop(bench, window, dragged(window, 1), row, is_below=is_below)
    assert order(bench) == [0, 1, 2, 3]
    assert bench.session.editor.undo_stack.count() == steps


def test_rows_take_what_belongs_to_them_only(bench: Bench, window: MainWindow) -> None:
    files, strangers = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile("/x/voice.wav")])
    assert not drop(bench, window, files, 1, is_below=False)
    strangers.setData("application/x-timbre-lines", b"of-another-script")
    assert not drop(bench, window, strangers, 1, is_below=False)
    assert order(bench) == [0, 1, 2, 3]


def test_every_row_can_be_dragged_but_nothing_falls_into_a_cell(window: MainWindow) -> None:
    flags = window.script._model.index(0, Column.TEXT).flags()
    assert flags & Qt.ItemFlag.ItemIsDragEnabled
    assert not flags & Qt.ItemFlag.ItemIsDropEnabled
