"""Characters in the script: their names before the voices, in the manuscript, the table and for screen readers."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from window_bench import Bench

from studio.app.script.line_model import Column
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line, Slot


@pytest.fixture
def film(bench: Bench) -> Bench:
    """A film with two characters of one voice, and a line of the narrator."""
    bench.add_voice("Ada")
    bench.open_window()
    bench.window.resize(1280, 800)
    lines = (
        Line("one", "Who is there?", "Ada", character="Mira", slot=Slot(61.5, 63.0)),
        Line("two", "Only the wind.", "Ada", character="Old Captain", slot=Slot(600.0, 602.5)),
        Line("three", "Nobody came.", "Ada", file_name="vo/three"),
    )
    bench.session.editor.push(InsertLines(1, lines), "Insert")
    return bench


def row_words(bench: Bench, row: int) -> str:
    model = bench.window.script.view.model()
    return str(model.index(row, Column.TEXT).data(Qt.ItemDataRole.AccessibleTextRole))


def test_names_of_characters_are_shown_beside_their_lines(film: Bench) -> None:
    view = film.window.script.view
    assert view.text_delegate.layouts.columns.name_width > 0
    assert row_words(film, 1) == "2, Mira, Ada: Who is there?. New"
    assert row_words(film, 3) == "4, Ada: Nobody came.. New"
    edits = {line.id: {"character": None} for line in film.lines}
    film.session.editor.push(EditLines(edits), "Edit")
    assert view.text_delegate.layouts.columns.name_width == 0
    film.session.editor.push(EditLines({"two": {"character": "Old Captain"}}), "Edit")
    assert view.text_delegate.layouts.columns.name_width > 0


def test_the_table_shows_characters_and_times_of_a_film(film: Bench) -> None:
    film.window.actions_by_id["view.compact"].setChecked(True)
    view = film.window.script.view
    shown = [column for column in Column if not view.isColumnHidden(column)]
    assert {Column.CHARACTER, Column.START} <= set(shown)
    header = view.horizontalHeader()
    places = [header.visualIndex(column) for column in (Column.START, Column.SLOT, Column.CHARACTER, Column.VOICE)]
    assert places == sorted(places)
    model = view.model()
    assert [model.index(1, column).data() for column in (Column.START, Column.SLOT)] == ["1:01.5", "0:01.5"]
    assert model.index(3, Column.START).data() == ""
    header.sectionClicked.emit(Column.START)
    order = sorted(range(4), key=view.verticalHeader().visualIndex)
    assert order[:2] == [1, 2], "ten minutes come after one"


def test_a_wide_table_shows_slots_and_files_too(film: Bench) -> None:
    film.window.actions_by_id["view.compact"].setChecked(True)
    film.window.resize(2200, 900)
    view = film.window.script.view
    film.until(lambda: not view.isColumnHidden(Column.FILE_NAME))
    assert not view.isColumnHidden(Column.SLOT)


@pytest.mark.slow
def test_all_lines_of_a_character_are_played_and_those_of_a_filter(film: Bench) -> None:
    for line in range(4):
        film.add_take(np.zeros(2_400, np.float32), line=line)
    film.session.editor.push(EditLines({"three": {"character": "MIRA"}}), "Edit")
    heard: list[str] = []
    player, script = film.session.playback.script_player, film.window.script
    film.session.playback.player.started.connect(lambda playing: heard.append(playing.line_id))
    script.view.go_to("three")
    film.trigger("play.character")
    film.until(lambda: heard and not player.is_active)
    assert heard == ["one", "three"]
    script.view.hidden_rows.filter(frozenset(["one", "two"]))
    script.view.go_to("one")
    film.trigger("play.from_here")
    film.until(lambda: len(heard) > 2 and not player.is_active)
    assert heard[2:] == ["one", "two"]
