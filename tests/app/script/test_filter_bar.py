"""Filter bar, sorting of the compact table, and jumps to lines that need attention."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench, write_on

from studio.app.script.filter_bar import FilterBar
from studio.app.script.line_model import Column
from studio.app.script.line_statuses import LineStatus
from studio.app.window import MainWindow
from studio.errors import VoiceNotFound
from studio.project.changes import InsertLines, RemoveLines
from studio.project.lines import Line, LineOrigin, LineState

LINES = (
    Line(id="a", text="The gate is open.", voice="Anna", character="Guard", note="angry"),
    Line(id="b", text="Nobody is here.", voice="Bert", character="Mira", origin=LineOrigin(key="Q01_0020")),
    Line(id="c", text="Close the gate!", voice="anna", character="guard", file_name="vo/gate_02"),
    Line(id="d", text="He laughs.", voice="Bert", is_spoken=False),
)


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.resize(1280, 900)
    empty = bench.lines[0].id
    bench.session.editor.apply(InsertLines(0, LINES))
    bench.session.editor.apply(RemoveLines((empty,)))
    window.script.view.go_to("a")
    bench.live(0.02)
    return window


@pytest.fixture
def bar(bench: Bench, window: MainWindow) -> FilterBar:
    bench.trigger("edit.filter")
    return window.script.filter_bar


def shown(bench: Bench, window: MainWindow) -> str:
    return "".join(line.id for row, line in enumerate(bench.lines) if not window.script.view.isRowHidden(row))


def choose(bar: FilterBar, box_name: str, words: str) -> None:
    box = getattr(bar, box_name)
    box.setCurrentIndex(box.findText(words))
    box.activated.emit(box.currentIndex())


def test_a_line_of_a_table_is_found_by_its_id(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    QTest.keyClicks(QApplication.focusWidget(), "q01_0020")
    assert shown(bench, window) == "b"
    bench.trigger("edit.find")
    find = window.script.find_bar
    find._searches_details.setChecked(True)
    QTest.keyClicks(find._find, "Q01_0020")
    assert find._found.text() == "1 match"


def test_typing_shows_matching_lines_and_escape_shows_all(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    assert bar.isVisible()
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    assert shown(bench, window) == "ac"
    assert bar._found.text() == "2 of 4 lines shown"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert shown(bench, window) == "abcd"
    assert not bar.isVisible()
    assert window.script.view.hasFocus()


def test_the_key_that_opens_the_bar_closes_it(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    bench.trigger("edit.filter")
    assert not bar.isVisible()
    assert shown(bench, window) == "abcd"


def test_voices_are_compared_without_case(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    choose(bar, "_who", "Bert")
    assert shown(bench, window) == "bd"
    choose(bar, "_who", "Character: guard")
    assert shown(bench, window) == "ac"


def test_lines_are_filtered_by_state_and_note(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    bar._has_note.click()
    assert shown(bench, window) == "a"
    bar._has_note.click()
    bench.session.line_statuses.set("c", LineStatus(LineState.FAILED, error=VoiceNotFound("No.", remedy="None.")))
    choose(bar, "_state", "Failed")
    assert shown(bench, window) == "c"
    bench.session.line_statuses.set("c", None)
    bench.until(lambda: shown(bench, window) == "")
    choose(bar, "_state", "New")
    assert shown(bench, window) == "abc", "a note has no state"


def test_actions_leave_hidden_lines_alone(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    window.script.view.setFocus()
    QTest.keyClick(window.script.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert window.script.selected_line_ids == ["a", "c"]
    bench.trigger("edit.remove")
    assert [line.id for line in bench.lines] == ["b", "d"]


def test_the_current_line_is_a_shown_one(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    choose(bar, "_who", "Bert")
    assert window.script.view.current_line_id == "b"


@pytest.mark.slow
def test_a_line_stays_while_it_is_edited(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    field = write_on(window)
    field.selectAll()
    QTest.keyClicks(field, "door")
    bench.until(lambda: bench.texts[0] == "door")
    bench.live(0.02)
    assert shown(bench, window) == "ac"
    assert window.script.view.text_field is field
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert window.script.view.current_line_id == "c", "Enter skips hidden lines"


def test_a_new_line_is_shown_while_it_is_written(bench: Bench, window: MainWindow, bar: FilterBar) -> None:
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    bench.trigger("edit.new_line")
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, "New words")
    assert "New words" in field.toPlainText()


def test_only_shown_lines_are_spoken_if_wanted(
    bench: Bench, window: MainWindow, bar: FilterBar, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[list[str]] = []
    monkeypatch.setattr(bench.session.synthesis, "speak", lambda ids, **_: spoken.append(ids))
    QTest.keyClicks(QApplication.focusWidget(), "gate")
    bench.trigger("speak.stale")
    bar._speaks_shown.click()
    bench.trigger("speak.stale")
    assert spoken == [["a", "b", "c"], ["a", "c"]]


def test_next_failed_line(bench: Bench, window: MainWindow) -> None:
    for line_id in ("b", "c"):
        bench.session.line_statuses.set(line_id, LineStatus(LineState.FAILED))
    visited = []
    for _ in range(3):
        bench.trigger("edit.next_failed")
        visited.append(window.script.view.current_line_id)
    assert visited == ["b", "c", "b"]


def test_a_click_on_a_header_sorts_the_view_only(bench: Bench, window: MainWindow) -> None:
    bench.trigger("view.compact")
    window.resize(1900, 900)
    bench.live(0.02)
    view = window.script.view
    header = view.horizontalHeader()

    def click(column: Column) -> None:
        place = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def order() -> str:
        vertical = view.verticalHeader()
        return "".join(bench.lines[vertical.logicalIndex(place)].id for place in range(4))

    click(Column.CHARACTER)
    assert order() == "acbd"
    click(Column.CHARACTER)
    assert order() == "dbac"
    assert [line.id for line in bench.lines] == ["a", "b", "c", "d"]
    window.script.remove()
    assert [line.id for line in bench.lines] == ["b", "c", "d"]
    click(Column.NUMBER)
    bench.trigger("edit.undo")
    assert order() == "abcd"
