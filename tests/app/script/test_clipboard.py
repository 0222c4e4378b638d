"""Cut, copy and paste of lines within the window, and with spreadsheets and text editors."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from window_bench import Bench, write_on

from studio.app.window import MainWindow
from studio.project.changes import InsertLines, RemoveLines
from studio.project.lines import Heading, Line, LineStyle, Slot

CONTROL = Qt.KeyboardModifier.ControlModifier
LINES = (
    Line(id="a", text="Chapter One", heading=Heading.CHAPTER),
    Line(
        id="b",
        text="Who goes\tthere?",
        voice="Anna",
        character="Guard",
        style=LineStyle(instruct="angry"),
        slot=Slot(1.0, 2.5),
        note="loud",
        file_name="vo/guard_01",
        speed=1.25,
        is_locked=True,
        columns={"ID": "7"},
    ),
    Line(id="c", text="He sits down.", is_spoken=False),
)


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    empty = bench.lines[0].id
    bench.session.editor.apply(InsertLines(0, LINES))
    bench.session.editor.apply(RemoveLines((empty,)))
    window.script.view.go_to("a")
    window.script.view.setFocus()
    bench.live(0.02)
    return window


def press(window: MainWindow, key: Qt.Key) -> None:
    QTest.keyClick(window.script.view, key, CONTROL)


def put(text: str) -> None:
    mime = QMimeData()
    mime.setText(text)
    QGuiApplication.clipboard().setMimeData(mime)


def test_copied_lines_keep_everything_but_takes_and_lock(bench: Bench, window: MainWindow) -> None:
    bench.add_take(np.zeros(2400, np.float32), line=1)
    press(window, Qt.Key.Key_A)
    press(window, Qt.Key.Key_C)
    steps = bench.session.editor.undo_stack.count()
    press(window, Qt.Key.Key_V)
    assert bench.session.editor.undo_stack.count() == steps + 1
    heading, line, note = bench.lines[3:]
    assert (heading.heading, note.is_spoken) == (Heading.CHAPTER, False)
    assert (line.text, line.voice, line.character, line.style) == (
        "Who goes\tthere?",
        "Anna",
        "Guard",
        LineStyle(instruct="angry"),
    )
    assert (line.slot, line.note, line.speed, line.columns) == (Slot(1.0, 2.5), "loud", 1.25, {"ID": "7"})
    assert (line.chosen_take, line.is_locked) == (None, False)
    assert line.file_name is None, "two lines would be exported to one file"
    assert window.script.selected_line_ids == [each.id for each in bench.lines[3:]]
    bench.trigger("edit.undo")
    assert len(bench.lines) == 3


def test_lines_are_copied_for_spreadsheets_and_text_editors(bench: Bench, window: MainWindow) -> None:
    press(window, Qt.Key.Key_A)
    press(window, Qt.Key.Key_C)
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.text() == "Chapter One\nWho goes\tthere?\nHe sits down."
    rows = mime.data("text/tab-separated-values").toStdString().splitlines()
    assert rows[0].split("\t") == ["Character", "Voice", "Style", "Text", "File"]
    assert rows[2] == 'Guard\tAnna\t“angry”\t"Who goes\tthere?"\tvo/guard_01'
    assert "<td>Who goes\tthere?</td>" in mime.html()


def test_cut_leaves_locked_lines(bench: Bench, window: MainWindow) -> None:
    press(window, Qt.Key.Key_A)
    press(window, Qt.Key.Key_X)
    assert [line.id for line in bench.lines] == ["b"]
    bench.trigger("edit.undo")
    assert [line.id for line in bench.lines] == ["a", "b", "c"]


def test_a_cut_line_keeps_its_file_name(bench: Bench, window: MainWindow) -> None:
    window.script.view.go_to("b")
    window.script.toggle_lock()
    press(window, Qt.Key.Key_X)
    press(window, Qt.Key.Key_V)
    assert [line.file_name for line in bench.lines] == [None, None, "vo/guard_01"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mira\tHello there, friend.\nGuard\tHalt!", [("Mira", "Hello there, friend."), ("Guard", "Halt!")]),
        ("Line\tSpeaker\nHello there.\tMira", [("Mira", "Hello there.")]),
        ("Guard\tAnna\t\tHalt!\tvo/x", [("Guard", "Halt!")]),
    ],
)
def test_cells_of_a_spreadsheet_become_lines(
    bench: Bench, window: MainWindow, text: str, expected: list[tuple[str, str]]
) -> None:
    put(text)
    press(window, Qt.Key.Key_V)
    assert [(line.character, line.text) for line in bench.lines[1:-2]] == expected


@pytest.mark.slow
def test_a_plain_text_is_split_into_lines(bench: Bench, window: MainWindow) -> None:
    put("The first paragraph is here.\n\nThe second paragraph is here.")
    press(window, Qt.Key.Key_V)
    assert bench.texts[1:3] == ["The first paragraph is here.", "The second paragraph is here."]


def test_the_keys_belong_to_an_open_text_field(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClick(field, Qt.Key.Key_A, CONTROL)
    QTest.keyClick(field, Qt.Key.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "Chapter One"
    put(" and more")
    field.moveCursor(field.textCursor().MoveOperation.End)
    QTest.keyClick(field, Qt.Key.Key_V, CONTROL)
    assert field.toPlainText() == "Chapter One and more"
    assert len(bench.lines) == 3
