"""The list of takes: what it shows, and what clicks, keys and the menu do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio.app.inspector import take_files
from studio.app.inspector.take_rows import age_text, mark_texts, take_rows, tool_tip
from studio.app.inspector.takes_list import TakesList
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.takes import Take
from studio.provenance.mark import Marker

RATE = 24_000


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    """A line with three takes, of which the last is chosen; the takes are shown."""
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "We have won!", "voice": "Anna"}}))
    for seed in (11, 22, 33):
        bench.add_take(np.full(RATE * seed // 11, 0.1, np.float32), seed=seed)
    window = bench.open_window()
    window.inspector.show_takes_page()
    bench.live(0.05)
    return window


@pytest.fixture
def takes(bench: Bench, window: MainWindow) -> list[Take]:
    return list(bench.session.editor.project.takes_of(bench.lines[0].id))


def row_of(shown: TakesList, take: Take) -> QPoint:
    """Return a point on the text of a take."""
    items = [shown.item(row) for row in range(shown.count())]
    item = next(item for item in items if item.text() == f"Take {take.number}")
    return shown.visualItemRect(item).center()


def click(bench: Bench, shown: TakesList, place: QPoint, button: Qt.MouseButton = Qt.MouseButton.LeftButton) -> None:
    bench.loop.call_soon(lambda: QTest.mouseClick(shown.viewport(), button, pos=place))
    bench.live(0.05)


def press(bench: Bench, shown: TakesList, key: Qt.Key) -> None:
    shown.setFocus()
    bench.loop.call_soon(lambda: QTest.keyClick(shown, key))
    bench.live(0.05)


def now_playing(bench: Bench) -> str | None:
    playing = bench.session.playback.player.now_playing
    return playing.take_id if playing is not None and bench.session.playback.player.is_playing else None


def test_a_click_plays_a_take_and_does_not_choose_it(bench: Bench, window: MainWindow, takes: list[Take]) -> None:
    shown = window.inspector.takes
    click(bench, shown, row_of(shown, takes[1]))
    bench.until(lambda: now_playing(bench) == takes[1].id)
    assert bench.lines[0].chosen_take == takes[2].id
    assert shown.selected_takes == [takes[1].id]
    assert bench.session.editor.undo_stack.count() == 0


def test_a_double_click_chooses_a_take_and_lets_it_play(bench: Bench, window: MainWindow, takes: list[Take]) -> None:
    shown = window.inspector.takes
    started: list[object] = []
    bench.session.playback.player.started.connect(started.append)
    place = row_of(shown, takes[1])
    click(bench, shown, place)
    bench.until(lambda: now_playing(bench) == takes[1].id)
    bench.loop.call_soon(lambda: QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place))
    bench.live(0.05)
    assert bench.lines[0].chosen_take == takes[1].id
    assert len(started) == 1
    bench.trigger("edit.undo")
    assert bench.lines[0].chosen_take == takes[2].id


@pytest.mark.slow
@pytest.mark.parametrize("way", ["enter", "mark", "menu"])
def test_enter_mark_and_menu_choose_a_take(bench: Bench, window: MainWindow, takes: list[Take], way: str) -> None:
    shown = window.inspector.takes
    if way == "enter":
        press(bench, shown, Qt.Key.Key_Home)
        press(bench, shown, Qt.Key.Key_Down)
        press(bench, shown, Qt.Key.Key_Return)
    elif way == "mark":
        click(bench, shown, QPoint(12, row_of(shown, takes[1]).y()))
    else:
        menu_entry(bench, window, takes[1], "Use this take").trigger()
    assert bench.lines[0].chosen_take == takes[1].id


def test_arrow_keys_only_select(bench: Bench, window: MainWindow, takes: list[Take]) -> None:
    shown = window.inspector.takes
    press(bench, shown, Qt.Key.Key_Down)
    assert shown.current_take == takes[1].id
    assert bench.lines[0].chosen_take == takes[2].id


@pytest.mark.slow
def test_space_plays_the_selected_take_and_stops_it(bench: Bench, window: MainWindow, takes: list[Take]) -> None:
    shown = window.inspector.takes
    press(bench, shown, Qt.Key.Key_Down)
    press(bench, shown, Qt.Key.Key_Space)
    bench.until(lambda: now_playing(bench) == takes[1].id)
    press(bench, shown, Qt.Key.Key_Space)
    assert now_playing(bench) is None


@pytest.mark.slow
def test_a_locked_line_keeps_its_take(bench: Bench, window: MainWindow, takes: list[Take]) -> None:
    window.script.toggle_lock()
    steps = bench.session.editor.undo_stack.count()
    told: list[str] = []
    window.takes.status_message.connect(told.append)
    shown = window.inspector.takes
    for button in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
        click(bench, shown, row_of(shown, takes[0]), button)
        for menu in QApplication.topLevelWidgets():
            if menu.inherits("QMenu"):
                menu.close()
    assert not told  # playing is allowed
    press(bench, shown, Qt.Key.Key_Return)
    click(bench, shown, QPoint(12, row_of(shown, takes[0]).y()))
    menu_entry(bench, window, takes[0], "Remove").trigger()
    assert len(told) == 3
    assert "Ctrl+L" in told[0]
    assert (bench.lines[0].chosen_take, bench.session.editor.undo_stack.count()) == (takes[2].id, steps)
    for action in ("play.next_take", "play.remove_take"):
        bench.trigger(action)
    assert bench.lines[0].chosen_take == takes[2].id
    assert len(window.takes.takes) == 3


def menu_entry(bench: Bench, window: MainWindow, take: Take, text: str) -> QAction:
    menu = bench.parts.take_dialogs.menu(take.id)
    menu.setParent(window)
    return next(action for action in menu.actions() if action.text() == text)


def test_the_menu_keeps_removes_and_restores_the_take_under_the_mouse(
    bench: Bench, window: MainWindow, takes: list[Take]
) -> None:
    project = bench.session.editor.project
    menu_entry(bench, window, takes[0], "Keep").trigger()
    assert project.take(takes[0].id).is_kept
    menu_entry(bench, window, takes[0], "Copy seed").trigger()
    assert QGuiApplication.clipboard().text() == "11"
    menu_entry(bench, window, takes[0], "Remove").trigger()
    assert [take.id for take in project.takes_of(bench.lines[0].id)] == [takes[1].id, takes[2].id]
    window.takes.restore(window.takes.removed_takes[0])
    assert len(project.takes_of(bench.lines[0].id)) == 3


def test_an_exported_take_is_what_is_heard_with_the_mark(
    bench: Bench, window: MainWindow, takes: list[Take], tmp_path: Path
) -> None:
    files = bench.parts.take_dialogs.files
    saved: list[str] = []
    files.status_message.connect(saved.append)
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"gain_db": -6.0}}))
    files.export(takes[0], tmp_path / "take.wav")
    bench.until(lambda: saved)
    samples, rate = soundfile.read(tmp_path / "take.wav", dtype="float32")
    assert rate == RATE
    heard = bench.session.editor.project.samples_of(takes[0].id)
    np.testing.assert_allclose(samples, Marker(RATE)(heard), atol=1e-4)


def test_a_dragged_take_is_a_wav_file_named_after_its_line(
    bench: Bench, window: MainWindow, takes: list[Take], monkeypatch: pytest.MonkeyPatch
) -> None:
    dragged: list[Path] = []

    class Drag:
        def __init__(self, source: object) -> None:
            pass

        def setMimeData(self, mime: object) -> None:  # noqa: N802
            dragged.append(Path(mime.urls()[0].toLocalFile()))  # type: ignore[attr-defined]

        def exec(self, action: object) -> None:
            pass

    monkeypatch.setattr(take_files, "QDrag", Drag)
    monkeypatch.setattr(QApplication, "mouseButtons", lambda: Qt.MouseButton.LeftButton)
    window.inspector.takes.setCurrentRow(2)
    window.inspector.takes.startDrag(Qt.DropAction.CopyAction)
    bench.until(lambda: dragged)
    assert dragged[0].name == "001 We have won! - 1.wav"
    assert soundfile.info(dragged[0]).frames == RATE


@pytest.mark.slow
def test_a_drag_ends_when_the_button_was_released_before_the_file_was_ready(
    bench: Bench, window: MainWindow, takes: list[Take], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take_files, "QDrag", lambda _: pytest.fail("nothing is dragged"))
    monkeypatch.setattr(QApplication, "mouseButtons", lambda: Qt.MouseButton.NoButton)
    window.inspector.takes.startDrag(Qt.DropAction.CopyAction)
    bench.live(0.2)


# Texts.


@pytest.mark.slow
def test_a_take_of_an_older_text_is_marked(bench: Bench, window: MainWindow) -> None:
    project = bench.session.editor.project
    assert mark_texts(take_rows(project, bench.lines[0].id)[0]) == []
    window.script.set_field("text", "We have lost!", "Edit")
    (row, *_) = take_rows(project, bench.lines[0].id)
    assert mark_texts(row) == ["Older text"]
    assert "Text: We have won!" in tool_tip(row)
    assert "Older text" in window.inspector.takes.item(0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_take_of_another_voice_has_other_settings(bench: Bench, window: MainWindow) -> None:
    bench.add_voice("Berta")
    window.script.assign_voice("Berta")
    rows = take_rows(bench.session.editor.project, bench.lines[0].id)
    assert mark_texts(rows[0]) == ["Other settings"]


def test_the_row_shows_the_stretched_length(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("speed", 2.0, "Change speed")
    rows = take_rows(bench.session.editor.project, bench.lines[0].id)
    assert [row.seconds for row in rows] == [0.5, 1.0, 1.5]
    assert rows[0].speed == 2.0
    assert mark_texts(rows[0]) == []


@pytest.mark.parametrize(("age", "text"), [
    (timedelta(0), "12:41"), (timedelta(days=1), "yesterday"), (timedelta(days=40), "10/12/26")
])  # fmt: skip
def test_ages(bench: Bench, age: timedelta, text: str) -> None:
    now = datetime(2026, 11, 21, 12, 41).astimezone()
    assert age_text((now - age).astimezone(UTC), now) == text
