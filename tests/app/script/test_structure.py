"""Chapters, scenes and notes: edits, jumps, and notes that are not spoken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.script import outline
from studio.app.script.navigation import OutlineDialog
from studio.app.script.outline import find_sections
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.lines import Heading, Line
from studio.project.script import Script


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    window.script.paste_text("Chapter One.\n\nFirst line.\n\nHe sits.\n\nChapter Two.\n\nLast line.")
    bench.live(0.02)
    return window


def select(bench: Bench, window: MainWindow, *rows: int) -> None:
    window.script.view.select_lines([bench.lines[row].id for row in rows])


def test_lines_become_headings_and_back(bench: Bench, window: MainWindow) -> None:
    select(bench, window, 0, 3)
    bench.trigger("edit.chapter")
    assert [line.heading for line in bench.lines] == [1, 0, 0, 1, 0]
    bench.trigger("edit.chapter")
    assert [line.heading for line in bench.lines] == [0, 0, 0, 0, 0]
    bench.trigger("edit.scene")
    assert [line.heading for line in bench.lines] == [2, 0, 0, 2, 0]
    for _ in range(3):
        bench.trigger("edit.undo")
    assert [line.heading for line in bench.lines] == [0, 0, 0, 0, 0]


def test_the_lines_of_a_chapter_or_scene_are_selected(bench: Bench, window: MainWindow) -> None:
    select(bench, window, 0)
    bench.trigger("edit.select_chapter")
    assert window.script.selected_line_ids == [bench.lines[0].id], "the script has no chapters"
    for rows, action in (((0, 3), "edit.chapter"), ((2,), "edit.scene")):
        select(bench, window, *rows)
        bench.trigger(action)
    for row, rows in ((0, [0, 1, 2]), (1, [0, 1, 2]), (2, [2]), (4, [3, 4])):
        window.script.view.go_to(bench.lines[row].id)
        bench.trigger("edit.select_chapter")
        assert window.script.selected_line_ids == [bench.lines[each].id for each in rows]


def test_notes_are_not_spoken(bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    select(bench, window, 2)
    bench.trigger("edit.note")
    assert [line.is_spoken for line in bench.lines] == [True, True, False, True, True]
    queued: list[Sequence[str]] = []
    monkeypatch.setattr(bench.session.queue, "speak", lambda ids, **_: queued.append(list(ids)) or [None])
    select(bench, window, 1, 2)
    bench.trigger("speak.line")
    bench.trigger("speak.stale")
    assert bench.lines[2].id not in queued[0] + queued[1]
    assert len(queued[1]) == 4
    select(bench, window, 2)
    bench.trigger("edit.spoken")
    assert all(line.is_spoken for line in bench.lines)


@pytest.mark.slow
def test_playback_skips_notes(bench: Bench, window: MainWindow) -> None:
    for row in range(3):
        bench.add_take(np.full(2400, 0.1, np.float32), line=row)
    bench.session.editor.apply(EditLines({bench.lines[1].id: {"is_spoken": False}}))
    played: list[str] = []
    bench.session.playback.script_player.line_changed.connect(played.append)
    bench.session.playback.script_player.start(bench.lines[0].id)
    bench.until(lambda: len(played) == 2)
    assert played == [bench.lines[0].id, bench.lines[2].id]
    bench.session.playback.stop_and_cancel()


def test_sections_count_spoken_lines() -> None:
    lines = (
        Line(id="1", text="Before."),
        Line(id="2", text="One", heading=Heading.CHAPTER),
        Line(id="3", text="A."),
        Line(id="4", text="Night", heading=Heading.SCENE),
        Line(id="5", text="Note.", is_spoken=False),
        Line(id="6", text="B."),
        Line(id="7", text="Two", heading=Heading.CHAPTER),
    )
    found = find_sections(Script(lines=lines))
    assert [(each.row, each.end, each.num_lines) for each in found] == [(1, 6, 2), (3, 6, 1), (6, 7, 0)]


def test_only_changed_lines_are_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def seconds_of(script: Script, line: Line) -> float:
        measured.append(line.id)
        return float(len(line.text))

    monkeypatch.setattr(outline, "seconds_of", seconds_of)
    title = Line(id="title", text="One", heading=Heading.CHAPTER)
    script, cache = Script(lines=(title, *(Line(id=text, text=text) for text in "abc"))), outline.LengthCache()
    assert outline.find_sections(script, cache)[0].seconds == 6.0
    measured.clear()
    script = script.with_edited({"b": replace(script.line("b"), text="bbb")})
    assert outline.find_sections(script, cache)[0].seconds == 8.0
    assert measured == ["b"]


def test_keys_jump_between_chapters(bench: Bench, window: MainWindow) -> None:
    select(bench, window, 0, 3)
    bench.trigger("edit.chapter")
    window.script.view.go_to(bench.lines[1].id)
    bench.trigger("view.next_section")
    assert window.script.view.current_line_id == bench.lines[3].id
    bench.trigger("view.previous_section")
    assert window.script.view.current_line_id == bench.lines[0].id


def test_the_outline_jumps_to_a_chapter(bench: Bench, window: MainWindow) -> None:
    select(bench, window, 0, 3)
    bench.trigger("edit.chapter")
    window.script.view.go_to(bench.lines[1].id)
    bench.trigger("view.outline")
    dialog = window.findChild(OutlineDialog)
    assert dialog.list.currentRow() == 0
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    dialog.list.itemActivated.emit(dialog.list.currentItem())
    assert window.script.view.current_line_id == bench.lines[3].id
