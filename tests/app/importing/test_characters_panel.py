"""The panel of characters: counts, casting, playing, showing and selecting their lines, by keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from window_bench import Bench

from studio.app.importing.characters_panel import CharactersPanel
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line

LINES = (
    Line("one", "Who is there?", "Ada", character="Mira"),
    Line("two", "Only the wind.", "Ada", character="Old Captain"),
    Line("three", "Nobody came.", character="MIRA"),
)


@pytest.fixture
def play(bench: Bench) -> Bench:
    for name in ("Ada", "Bert"):
        bench.add_voice(name)
    bench.open_window().resize(1280, 800)
    return bench


def open_panel(bench: Bench) -> CharactersPanel:
    bench.session.editor.push(InsertLines(1, LINES), "Insert")
    panel, tabs = bench.parts.characters, bench.parts.voice_tabs
    bench.until(lambda: tabs.isTabVisible(tabs.indexOf(panel)))
    tabs.setCurrentWidget(panel)
    bench.until(lambda: panel.list.topLevelItemCount() == 2)
    return panel


def rows(panel: CharactersPanel) -> list[tuple[str, str, str]]:
    items = map(panel.list.topLevelItem, range(panel.list.topLevelItemCount()))
    return [(item.text(0), item.text(1), item.text(2)) for item in items]


def test_the_panel_is_there_for_scripts_with_characters(play: Bench) -> None:
    tabs = play.parts.voice_tabs
    assert not tabs.isTabVisible(tabs.indexOf(play.parts.characters))
    assert not tabs.tabBar().isVisible()
    panel = open_panel(play)
    assert tabs.tabBar().isVisible()
    assert rows(panel) == [("Mira", "No voice", "2"), ("Old Captain", "Ada", "1")]
    reader = QAccessible.queryAccessibleInterface(panel.list)
    texts = [reader.child(number).text(QAccessible.Text.Name) for number in range(reader.childCount())]
    assert "Mira, No voice, lines: 2" in texts
    play.trigger("edit.undo")
    play.until(lambda: not tabs.isTabVisible(tabs.indexOf(panel)))


def test_a_click_suggests_voices_for_characters_without_one(play: Bench) -> None:
    panel = open_panel(play)
    assert panel.suggest.isVisible()
    panel.suggest.click()
    play.until(lambda: not panel.suggest.isVisible())
    assert rows(panel)[1] == ("Old Captain", "Ada", "1")
    assert rows(panel)[0][1] in ("Ada", "Bert")
    play.trigger("edit.undo")
    play.until(lambda: rows(panel)[0] == ("Mira", "No voice", "2"))


def test_characters_are_cast_by_keyboard_and_one_undo_reverts_it(play: Bench) -> None:
    panel = open_panel(play)
    panel.list.setFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    panel.voice.setFocus()
    panel.voice.setCurrentIndex(0)
    QTest.keyClick(panel.voice, Qt.Key.Key_Down)
    panel.voice.activated.emit(panel.voice.currentIndex())
    play.until(lambda: rows(panel) == [("Mira", "Bert", "2"), ("Old Captain", "Bert", "1")])
    assert [line.voice for line in play.lines[1:]] == ["Bert"] * 3
    assert len(panel.selected) == 2
    play.trigger("edit.undo")
    assert [line.voice for line in play.lines[1:]] == ["Ada", "Ada", None]


def test_lines_of_a_character_are_shown_and_selected(play: Bench) -> None:
    panel, view = open_panel(play), play.window.script.view
    QTest.mouseClick(panel.show_lines, Qt.MouseButton.LeftButton)
    assert view.hidden_rows.shown == {"one", "three"}
    QTest.mouseClick(panel.show_lines, Qt.MouseButton.LeftButton)
    assert view.hidden_rows.shown is None
    (select,) = panel.list.actions()
    select.trigger()
    assert play.window.script.selected_line_ids == ["one", "three"]


def test_a_voice_that_is_missing_is_shown_like_a_character(play: Bench) -> None:
    panel = open_panel(play)
    play.session.editor.push(EditLines({"two": {"character": None, "voice": "Gone"}}), "Edit")
    play.until(lambda: ("Gone", "No voice", "1") in rows(panel))
    panel.list.setCurrentItem(panel.list.topLevelItem(1))
    QTest.mouseClick(panel.show_lines, Qt.MouseButton.LeftButton)
    assert play.window.script.view.hidden_rows.shown == {"two"}


@pytest.mark.slow
def test_space_plays_all_lines_of_the_character(play: Bench) -> None:
    panel = open_panel(play)
    for line in range(1, 4):
        play.add_take(np.zeros(2_400, np.float32), line=line)
    heard: list[str] = []
    player = play.session.playback.script_player
    play.session.playback.player.started.connect(lambda playing: heard.append(playing.line_id))
    panel.list.setFocus()
    play.loop.call_soon(lambda: QTest.keyClick(panel.list, Qt.Key.Key_Space))
    play.until(lambda: heard and not player.is_active)
    assert heard == ["one", "three"]


@pytest.mark.parametrize(("name", "line"), [("Old Captain", ("Old Captain", "Bert")), ("Bert", (None, "Bert"))])
def test_a_click_on_the_name_of_the_current_line_changes_its_speaker(
    play: Bench, name: str, line: tuple[str | None, str]
) -> None:
    view = play.window.script.view
    if line[0] is None:
        play.session.editor.push(InsertLines(1, (Line("one", "Who is there?", "Ada"),)), "Insert")
    else:
        open_panel(play)
        play.session.editor.push(EditLines({"two": {"voice": "Bert"}}), "Cast")
    view.select_lines(["one"])
    row = view.visualRect(view.currentIndex())
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row.topLeft() + QPoint(36, 15))
    play.until(lambda: [menu for menu in play.window.findChildren(QMenu) if menu.isVisible()])
    (menu,) = [menu for menu in play.window.findChildren(QMenu) if menu.isVisible()]
    (action,) = [action for action in menu.actions() if action.text() == name]
    action.trigger()
    menu.close()
    assert (play.lines[1].character, play.lines[1].voice) == line
    play.trigger("edit.undo")
    assert play.lines[1].voice == "Ada"
