"""Find bar: number of matches, current match, and highlighting in the rows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.script.edits import Match
from studio.app.script.find_bar import FindBar
from studio.app.script.line_model import Column
from studio.app.script.text_painting import make_excerpt
from studio.app.theme.colors import LIGHT
from studio.app.window import MainWindow

TEXT = "A cat sat here, a cat of its own.\n\nAnother cat sat there.\n\nNo animal at all here."


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.resize(1280, 1000)
    bench.live(0.05)
    window.script.paste_text(TEXT)
    window.script.view.go_to(bench.lines[0].id)
    return window


@pytest.fixture
def bar(bench: Bench, window: MainWindow) -> FindBar:
    bench.trigger("edit.find")
    return window.script.find_bar


def count_texts(bar: FindBar) -> tuple[str, str]:
    return bar._found.text(), bar._found.accessibleName()


def colours_of_text(window: MainWindow, row: int) -> set[str]:
    view = window.script.view
    area: QRect = view.visualRect(window.script._model.index(row, Column.TEXT))
    area.setLeft(view.text_delegate.layouts.columns.text_left)
    image: QImage = view.viewport().grab(area).toImage()
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}


def test_the_current_match_is_counted(bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    assert count_texts(bar) == ("3 matches", "3 matches")
    for number in (1, 2, 3, 1):
        QTest.keyClick(bar._find, Qt.Key.Key_Return)
        assert count_texts(bar) == (f"{number} of 3", f"Match {number} of 3")
    bar._previous.click()
    assert count_texts(bar)[0] == "3 of 3"


def test_the_search_continues_from_the_current_line(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    window.script.view.go_to(bench.lines[1].id)
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    assert count_texts(bar)[0] == "3 of 3"


def test_a_change_of_the_script_updates_the_count(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    window.script.set_field("text", "A dog sat here.", "Edit")
    assert count_texts(bar)[0] == "1 match"
    bench.trigger("edit.undo")
    assert count_texts(bar)[0] == "3 matches"


@pytest.mark.slow
def test_matches_are_highlighted_until_the_bar_is_closed(window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    assert LIGHT.found in colours_of_text(window, 1)
    assert LIGHT.found not in colours_of_text(window, 2)
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    on_selection = colours_of_text(window, 0)
    window.script.view.clearSelection()
    assert LIGHT.warn in colours_of_text(window, 0), "the current match"
    assert LIGHT.found not in on_selection
    QTest.keyClick(bar, Qt.Key.Key_Escape)
    assert not {LIGHT.found, LIGHT.warn} & (colours_of_text(window, 0) | colours_of_text(window, 1))


@pytest.mark.slow
@pytest.mark.parametrize("words", ["quiet harbour ", "安静的港口，"])
@pytest.mark.parametrize("num_words", [0, 7, 30, 31, 32, 33, 34, 35, 36, 200])
def test_a_long_line_shows_the_part_around_the_match(bench: Bench, words: str, num_words: int) -> None:
    del bench  # fonts need a QApplication
    before = words * num_words
    text = before + "HERE\nand " + 40 * words
    place = Match("line", len(before), len(before) + 4)
    excerpt = make_excerpt(text, QFont(), 300.0, 2, place)
    start, length = excerpt.range_of(place)
    assert excerpt.text[start : start + length] == "HERE"
    assert excerpt.text.endswith("…")
    assert excerpt.text.startswith("…") == (excerpt.start > 0)


def test_a_short_text_is_not_elided(bench: Bench) -> None:
    del bench
    assert make_excerpt("Short.", QFont(), 300.0, 2, None).text == "Short."


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("width", [60.0, 100.0, 1000.0])
def test_a_match_after_emoji_is_highlighted(width: float) -> None:
    """Qt counts each emoji as two units."""
    text = 12 * "😀 a " + "cat " + 12 * "😀 a "
    start = text.index("cat")
    excerpt = make_excerpt(text, QFont(), width, 2, Match("line", start, start + 3))
    assert excerpt.text.strip("…") == text[excerpt.start : excerpt.end]
    first, length = excerpt.range_of(Match("line", start, start + 3))
    units = excerpt.text.encode("utf-16-le")
    assert units[2 * first : 2 * (first + length)].decode("utf-16-le") == "cat"


def test_typing_shows_the_first_match(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "a")
    assert window.script.view.current_line_id == bench.lines[0].id
    QTest.keyClicks(bar._find, "no")
    assert window.script.view.current_line_id == bench.lines[1].id
    assert bar._find.hasFocus()
    QTest.keyClicks(bar._find, "x")
    assert count_texts(bar)[0] == "Not found"
    assert window.script.view.current_line_id == bench.lines[0].id, "back where the search began"


def test_voices_and_notes_are_searched_when_asked(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    window.script.edit_lines([bench.lines[1].id], "note", "ask Martha", "Edit note")
    window.script.edit_lines([bench.lines[2].id], "voice", "Martha", "Change voice")
    QTest.keyClicks(bar._find, "martha")
    assert count_texts(bar)[0] == "Not found"
    bar._searches_details.click()
    assert count_texts(bar)[0] == "2 matches"
    for row in (1, 2):
        QTest.keyClick(bar._find, Qt.Key.Key_Return)
        assert window.script.view.current_line_id == bench.lines[row].id
    bench.trigger("edit.replace")
    bar._replacement.setText("x")
    bar._replace.click()
    assert bench.texts[2] == "No animal at all here."
