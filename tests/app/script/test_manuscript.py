"""The script as a manuscript: row heights, editing in place, headings, tool tips and the compact table."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPaintEvent
from PySide6.QtTest import QTest
from window_bench import Bench, write_on

from studio.app.script.line_model import ATTENTION_ROLE, SLOT_ROLE, Column
from studio.app.script.line_statuses import LineStatus
from studio.app.script.manuscript_delegate import shorten
from studio.app.script.manuscript_layout import RowKind
from studio.app.script.script_view import ScriptView
from studio.app.theme.colors import theme_colors
from studio.app.window import MainWindow
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Heading, Line, LineState, LineStyle, Slot
from studio.settings import SCRIPT_IS_COMPACT

LONG = "The ship came slowly up the river, and every window in the old town stood open to the evening air. " * 4


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.resize(1280, 800)
    bench.live(0.05)
    return window


def heights(window: MainWindow) -> list[int]:
    view = window.script.view
    return [view.rowHeight(row) for row in range(view.model().rowCount())]


def add_lines(bench: Bench, *lines: Line) -> None:
    bench.session.editor.push(InsertLines(1, lines), "Add lines")
    bench.live(0.05)


@pytest.mark.slow
def test_a_long_text_is_shown_in_full(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Short.", "Edit")
    add_lines(bench, Line(id="long", text=LONG), Line(id="last", text="Short."))
    short, long, last = heights(window)
    assert short == last
    layout = window.script.view.text_delegate.layouts.text(bench.lines[1])
    assert layout.lineCount() > 3
    assert long >= layout.lineCount() * window.script.view.text_delegate.layouts.pitch(RowKind.SPOKEN)


@pytest.mark.parametrize("width", [1250, 1260])
def test_rows_fit_their_texts_beside_the_scroll_bar(bench: Bench, window: MainWindow, width: int) -> None:
    """The scroll bar that the new rows needed made them narrower, but they kept the heights for the whole width."""
    window.resize(width, 800)
    add_lines(bench, *(Line(id=f"line{number}", text=LONG[: 20 + 3 * number]) for number in range(40)))
    bench.live(0.1)
    view = window.script.view
    assert heights(window) == [view.text_delegate.row_layout(line).height for line in bench.lines]


def test_a_gap_separates_paragraphs(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Short.", "Edit")
    add_lines(bench, Line(id="next", text="Short."), Line(id="first", text="Short.", begins_paragraph=True))
    before, within, first = heights(window)
    assert before == within
    assert first > within + 8


def test_a_row_follows_its_text_and_its_width(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", LONG, "Edit")
    bench.live(0.02)
    (wide,) = heights(window)
    window.resize(900, 800)
    bench.live(0.05)
    (narrow,) = heights(window)
    assert narrow > wide
    window.script.set_field("text", "Short.", "Edit")
    bench.live(0.02)
    assert heights(window)[0] < wide


def test_a_change_that_keeps_the_height_paints_one_row(bench: Bench, window: MainWindow) -> None:
    """The whole script was painted after each state of a take, twice for each line that was spoken."""
    add_lines(bench, Line(id="last", text="The last line."))
    painted: list[QRect] = []

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            if isinstance(event, QPaintEvent):
                painted.append(event.rect())
            return False

    view, watcher = window.script.view, Watcher()
    bench.live(0.05)
    view.viewport().installEventFilter(watcher)
    bench.session.editor.push(EditLines({"last": {"text": "The lost line."}}), "Edit")
    bench.live(0.1)
    assert painted
    assert all(rect.height() < view.viewport().height() / 2 for rect in painted)


@pytest.mark.slow
def test_thousands_of_lines_open_by_laying_out_the_visible_ones(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts = window.script.view.text_delegate.layouts
    laid_out: list[Line] = []
    estimated: list[Line] = []
    lay_out_text, estimate = layouts.lay_out_text, layouts.estimated_height
    monkeypatch.setattr(
        layouts, "lay_out_text", lambda line, *more: (laid_out.append(line), lay_out_text(line, *more))[1]
    )
    monkeypatch.setattr(layouts, "estimated_height", lambda line: (estimated.append(line), estimate(line))[1])
    lines = tuple(Line(id=f"l{number}", text=f"{number} {LONG}") for number in range(3000))
    bench.session.editor.apply(InsertLines(1, lines))
    assert len(estimated) < 500
    window.script.view.row_heights.measure_visible()
    assert len(laid_out) < 100
    assert len(window.script.view.row_heights._pending) > 2000
    laid_out.clear()
    window.script.view.go_to("l2000")
    assert len(laid_out) < 100
    rect = window.script.view.visualRect(window.script._model.index(2001, Column.TEXT))
    assert window.script.view.viewport().rect().contains(rect)


def test_measuring_rows_above_keeps_the_visible_ones_in_place(bench: Bench, window: MainWindow) -> None:
    view = window.script.view
    lines = tuple(Line(id=f"l{number}", text=("iiii " * 200) if number % 2 else "Short.") for number in range(300))
    bench.session.editor.apply(InsertLines(1, lines))
    view.go_to("l150")
    row = window.script._model.row_of("l150")
    assert row is not None
    top = view.rowViewportPosition(row)
    bench.until(lambda: not view.row_heights._pending)
    assert view.rowViewportPosition(row) == top


def test_the_field_is_where_the_text_is_painted(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", LONG.strip(), "Edit")
    bench.live(0.02)
    delegate, line = window.script.view.text_delegate, bench.lines[0]
    field = write_on(window)
    bench.live(0)
    painted, typed = delegate.layouts.text(line), field.document().firstBlock().layout()
    rows = range(painted.lineCount())
    assert typed.lineCount() == painted.lineCount()
    assert [typed.lineAt(row).y() for row in rows] == pytest.approx([painted.lineAt(row).y() for row in rows])
    assert [typed.lineAt(row).textStart() for row in rows] == [painted.lineAt(row).textStart() for row in rows]
    origin = field.viewport().mapTo(window.script.view.viewport(), QPoint(0, 0))
    assert origin == QPoint(delegate.layouts.columns.text_left, delegate.row_layout(line).text_top)
    assert field.font() == delegate.layouts.fonts[RowKind.SPOKEN]


def with_chapters(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    add_lines(
        bench,
        Line(id="one", text="Chapter One", heading=Heading.CHAPTER),
        Line(id="a", text="A line."),
        Line(id="scene", text="At night", heading=Heading.SCENE),
        Line(id="b", text="Another line."),
        Line(id="note", text="He sits down.", is_spoken=False),
        Line(id="two", text="Chapter Two", heading=Heading.CHAPTER),
        Line(id="c", text="The last line."),
    )


def shown(bench: Bench, window: MainWindow) -> list[str]:
    view = window.script.view
    return [line.id for row, line in enumerate(bench.lines) if row and not view.isRowHidden(row)]


def test_left_and_right_fold_a_chapter(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    view = window.script.view
    view.go_to("b")
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.current_line_id == "scene"
    assert shown(bench, window) == ["one", "a", "scene", "two", "c"]
    view.go_to("one")
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert shown(bench, window) == ["one", "two", "c"]
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current_line_id == "two"
    view.go_to("one")
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert shown(bench, window) == ["one", "a", "scene", "two", "c"]


def test_a_click_on_the_arrow_folds(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    view = window.script.view
    row = view.visualRect(window.script._model.index(1, Column.TEXT))
    arrow = view.text_delegate.arrow_area(view.text_delegate.row_layout(bench.lines[1])).center() + row.topLeft()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert shown(bench, window) == ["one", "two", "c"]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=arrow)
    assert len(shown(bench, window)) == 7


def colors_in(view: ScriptView, area: QRect) -> set[str]:
    picture = view.viewport().grab(area).toImage()
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


def test_a_folded_chapter_shows_that_lines_below_it_failed(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    view, model = window.script.view, window.script._model
    heading = model.index(bench.session.editor.script.index_of["one"], Column.TEXT)
    assert heading.data(ATTENTION_ROLE) == ""
    bench.session.line_statuses.set("b", LineStatus(LineState.FAILED))
    assert heading.data(ATTENTION_ROLE) == "1 needs attention"
    summary = view.visualRect(heading)
    summary.setLeft(summary.right() - 240)
    red = QColor(theme_colors(view.palette()).bad).name()
    assert red not in colors_in(view, summary)
    view.go_to("one")
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert red in colors_in(view, summary)


def test_going_to_a_folded_line_unfolds_it(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    view = window.script.view
    view.go_to("one")
    QTest.keyClick(view, Qt.Key.Key_Left)
    view.go_to("b")
    assert "b" in shown(bench, window)
    assert not view.isRowHidden(4)


def test_a_screen_reader_gets_number_voice_text_and_state(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    bench.session.editor.apply(EditLines({"a": {"voice": "Anna", "is_locked": True}}))
    model, role = window.script._model, Qt.ItemDataRole.AccessibleTextRole
    texts = [model.index(row, Column.TEXT).data(role) for row in range(model.rowCount())]
    assert texts[1] == "2, Chapter: Chapter One. 2 lines"
    assert texts[2] == "3, Anna: A line.. New. Locked"
    assert texts[5] == "6, Note: He sits down."


def test_an_overrun_is_written_in_the_row(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("slot", Slot(1.0, 2.5), "Set slot")
    index = window.script._model.index(0, Column.TEXT)
    assert index.data(SLOT_ROLE).words == "slot 1.5 s"
    bench.add_take(np.zeros(2 * 24_000, np.float32))
    assert index.data(SLOT_ROLE).words == "2.0 / 1.5 s"
    assert index.data(SLOT_ROLE).is_overrun


def test_the_compact_table_has_one_height_and_is_remembered(bench: Bench, window: MainWindow) -> None:
    add_lines(bench, Line(id="long", text=LONG, character="Guard", file_name="vo/guard_01", note="angry"))
    bench.trigger("view.compact")
    view = window.script.view
    bench.live(0.02)
    assert len(set(heights(window))) == 1
    assert bench.settings[SCRIPT_IS_COMPACT]
    window.resize(1900, 800)
    bench.live(0.02)
    assert not any(view.isColumnHidden(column) for column in (Column.CHARACTER, Column.FILE_NAME, Column.NOTE))
    assert view.model().index(1, Column.FILE_NAME).data() == "vo/guard_01"
    bench.trigger("view.compact")
    bench.live(0.02)
    assert len(set(heights(window))) == 2
    assert not bench.settings[SCRIPT_IS_COMPACT]


@pytest.mark.slow
@pytest.mark.parametrize("style", [LineStyle(), LineStyle(instruct="as if it did not matter at all to anybody")])
def test_every_kind_of_row_is_painted(bench: Bench, window: MainWindow, style: LineStyle) -> None:
    with_chapters(bench, window)
    bench.session.editor.apply(EditLines({"a": {"style": style, "note": "quietly", "slot": Slot(0.0, 1.0)}}))
    for width in (500, 900, 1280, 1800):
        window.resize(width, 800)
        bench.live(0.02)
        assert not window.script.view.grab().isNull()


def test_notes_have_neither_voice_nor_state_in_the_compact_table(bench: Bench, window: MainWindow) -> None:
    with_chapters(bench, window)
    window.script.view.set_compact(is_compact=True)
    bench.live(0.02)
    view, model = window.script.view, window.script._model

    def image_of(row: int, column: Column) -> object:
        view.clearSelection()
        return view.viewport().grab(view.visualRect(model.index(row, column))).toImage()

    for column in (Column.STATE, Column.VOICE):
        spoken = image_of(4, column)
        bench.session.editor.apply(EditLines({"b": {"is_spoken": False}}))
        assert image_of(4, column) != spoken
        bench.session.editor.apply(EditLines({"b": {"is_spoken": True}}))


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(("words", "short"), [("Speaking 40%", "40%"), ("生成中 40%", "40%"), ("Failed", "F…")])
def test_a_state_in_a_narrow_row_is_shortened(words: str, short: str) -> None:
    metrics = QFontMetrics(QFont())
    assert shorten(words, metrics, metrics.horizontalAdvance(words)) == words
    assert shorten(words, metrics, metrics.horizontalAdvance(short)) == short
