"""Visibility of the edited text and the current line: field height, undo, tab order and Esc."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench, write_on

from studio.app.script.find_bar import FindBar
from studio.app.script.text_field import TextField
from studio.app.window import MainWindow

LONG = "The ship came slowly up the river, and every window in the old town stood open to the evening air. " * 3


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.resize(1280, 1000)
    bench.live(0.05)
    return window


def is_fully_visible(field: TextField) -> bool:
    text = field.blockBoundingGeometry(field.document().lastBlock()).translated(field.contentOffset())
    has_bar = field.verticalScrollBar().isVisible()
    return not has_bar and text.bottom() <= field.viewport().height() and field.firstVisibleBlock().blockNumber() == 0


def test_the_field_grows_with_its_text_and_shrinks_again(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    height_before, top = field.height(), field.geometry().top()
    field.insertPlainText(LONG)
    bench.live(0)
    assert is_fully_visible(field)
    assert field.height() > height_before
    assert field.geometry().top() == top
    field.setPlainText("Short.")
    assert field.height() == height_before


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [LONG.strip(), 6 * "今天天气很好，我们去公园散步吧。😀", 6 * "مرحبا بالعالم، كيف حالك اليوم؟ "]
)
def test_a_long_text_is_fully_visible_when_opened(bench: Bench, window: MainWindow, text: str) -> None:
    window.script.set_field("text", text, "Edit")
    field = write_on(window)
    bench.live(0)
    assert is_fully_visible(field)


def test_the_field_is_never_higher_than_the_table(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    field.insertPlainText(20 * LONG)
    bench.live(0)
    assert window.script.view.viewport().height() >= field.height()
    assert field.geometry().top() >= 0
    assert field.verticalScrollBar().isVisible()


@pytest.mark.parametrize("is_empty_before", [True, False], ids=["in an empty script", "below a line"])
def test_the_current_line_is_selected_after_undo(bench: Bench, window: MainWindow, is_empty_before: bool) -> None:
    if not is_empty_before:
        window.script.set_field("text", "The first line.", "Edit")
    window.script.paste_text("A second line.\nA third line.\nA fourth line.")
    assert len(window.script.selected_line_ids) == 3
    bench.trigger("edit.undo")
    (line,) = bench.lines
    bench.until(lambda: window.script.view.selectionModel().hasSelection())
    assert [index.row() for index in window.script.view.selectionModel().selectedRows()] == [0]
    assert window.script.current_line == line
    assert window.inspector.form.isEnabled()


def test_tab_moves_from_the_search_text_to_the_replacement(bench: Bench, window: MainWindow) -> None:
    bench.trigger("edit.replace")
    bar = window.script.findChild(FindBar)
    assert isinstance(bar, FindBar)
    QTest.keyClicks(QApplication.focusWidget(), "old")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClicks(QApplication.focusWidget(), "new")
    assert (bar._find.text(), bar._replacement.text()) == ("old", "new")


def test_undo_and_redo_scroll_to_the_changed_line(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("\n\n".join(f"Line {number}." for number in range(60)))
    first, last = bench.lines[0].id, bench.lines[-1].id
    window.script.view.go_to(first)
    window.script.set_field("speed", 1.5, "Change speed")
    window.script.view.go_to(last)
    for action in ("edit.undo", "edit.redo"):
        bench.trigger(action)
        assert window.script.view.current_line_id == first
        assert window.script.view.verticalScrollBar().value() == 0
        window.script.view.go_to(last)


def test_undo_keeps_the_current_line_if_the_changed_one_is_visible(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("One.\n\nTwo.\n\nThree.")
    window.script.view.go_to(bench.lines[0].id)
    window.script.set_field("speed", 1.5, "Change speed")
    window.script.view.go_to(bench.lines[2].id)
    bench.trigger("edit.undo")
    assert bench.lines[0].speed == 1.0
    assert window.script.view.current_line_id == bench.lines[2].id


def test_escape_stops_playback_before_it_leaves_the_field(bench: Bench, window: MainWindow) -> None:
    playing = ["take"]
    window.script.view.text_delegate.stop_playback = lambda: bool(playing and playing.pop())
    field = write_on(window)
    QTest.keyClicks(field, "Words")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert playing == []
    assert window.script.view.text_field is field
    assert field.toPlainText() == "Words"
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert bench.texts == [""]
