"""Which place was found is said in the bar and seen in its row, however long the line is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.script.find_bar import FindBar
from studio.app.script.finding import Match
from studio.app.script.highlighted_text import excerpt_of
from studio.app.script.line_model import Column
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
    return window.script._find_bar


def told(bar: FindBar) -> tuple[str, str]:
    return bar._found.text(), bar._found.accessibleName()


def colours_of_text(window: MainWindow, row: int) -> set[str]:
    view = window.script.view
    area: QRect = view.visualRect(window.script._model.index(row, Column.TEXT))
    image: QImage = view.viewport().grab(area).toImage()
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}


def test_the_place_that_was_gone_to_is_counted(bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    assert told(bar) == ("3 places", "3 places")
    for number in (1, 2, 3, 1):
        QTest.keyClick(bar._find, Qt.Key.Key_Return)
        assert told(bar) == (f"{number} of 3", f"Place {number} of 3")
    bar._previous.click()
    assert told(bar)[0] == "3 of 3"


def test_the_search_goes_on_from_the_line_somebody_has_gone_to(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    window.script.view.go_to(bench.lines[1].id)
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    assert told(bar)[0] == "3 of 3"


def test_a_change_of_the_script_is_counted_at_once(bench: Bench, window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    window.script.set_field("text", "A dog sat here.", "Edit")
    assert told(bar)[0] == "1 place"
    bench.trigger("edit.undo")
    assert told(bar)[0] == "3 places"


def test_places_are_marked_in_their_rows_until_the_bar_is_closed(window: MainWindow, bar: FindBar) -> None:
    QTest.keyClicks(bar._find, "cat")
    assert LIGHT.found in colours_of_text(window, 1)
    assert LIGHT.found not in colours_of_text(window, 2)
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    on_selection = colours_of_text(window, 0)
    window.script.view.clearSelection()
    assert LIGHT.warn in colours_of_text(window, 0), "the place that was gone to"
    assert LIGHT.found not in on_selection
    QTest.keyClick(bar, Qt.Key.Key_Escape)
    assert not {LIGHT.found, LIGHT.warn} & (colours_of_text(window, 0) | colours_of_text(window, 1))


@pytest.mark.parametrize("words", ["quiet harbour ", "安静的港口，"])
@pytest.mark.parametrize("num_words", [0, 7, 30, 31, 32, 33, 34, 35, 36, 200])
def test_of_a_long_line_what_is_around_the_place_is_shown(bench: Bench, words: str, num_words: int) -> None:
    del bench  # fonts need an application
    before = words * num_words
    text = before + "HERE\nand " + 40 * words
    place = Match("line", len(before), len(before) + 4)
    excerpt = excerpt_of(text, QFont(), 300.0, 2, place)
    start, length = excerpt.range_of(place)
    assert excerpt.text[start : start + length] == "HERE"
    assert excerpt.text.endswith("…")
    assert excerpt.text.startswith("…") == (excerpt.start > 0)


def test_a_text_that_fits_is_shown_whole(bench: Bench) -> None:
    del bench
    assert excerpt_of("Short.", QFont(), 300.0, 2, None).text == "Short."


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("width", [60.0, 100.0, 1000.0])
def test_a_place_behind_emoji_is_marked_where_it_is(width: float) -> None:
    """Qt counts each of them twice."""
    text = 12 * "😀 a " + "cat " + 12 * "😀 a "
    start = text.index("cat")
    excerpt = excerpt_of(text, QFont(), width, 2, Match("line", start, start + 3))
    assert excerpt.text.strip("…") == text[excerpt.start : excerpt.end]
    first, length = excerpt.range_of(Match("line", start, start + 3))
    units = excerpt.text.encode("utf-16-le")
    assert units[2 * first : 2 * (first + length)].decode("utf-16-le") == "cat"
