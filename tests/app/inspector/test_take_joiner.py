"""Joining two takes of a line at a chosen word."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from window_bench import Bench

from studio.app.inspector.take_joiner import TakeJoiner
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.takes import Take

RATE = 24_000
TEXT = "Nobody told the gulls, and they went on as ever."


def spoken(hertz: float, level: float = 0.2) -> np.ndarray:
    """Return two seconds of tone, half a second of silence, and two seconds of tone."""
    times = np.arange(2 * RATE) / RATE
    tone = (level * np.sin(2 * np.pi * hertz * times)).astype(np.float32)
    return np.concatenate([tone, np.zeros(RATE // 2, np.float32), tone])


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": TEXT, "voice": "Anna"}}))
    bench.add_take(spoken(200))
    bench.add_take(spoken(400, level=0.1))
    return bench.open_window()


def takes(bench: Bench) -> tuple[Take, ...]:
    return bench.session.editor.project.takes_of(bench.lines[0].id)


def choose_in_menu(bench: Bench, words: str) -> None:
    """Choose an entry of the context menu of the list of takes."""
    assert bench.window is not None
    bench.window.inspector.takes.menu_requested.emit(QPoint(10, 10))
    menus = bench.window.findChildren(QMenu)
    action = next(action for menu in menus for action in menu.actions() if action.text() == words)
    assert action.isEnabled()
    bench.loop.call_soon(action.trigger)


@pytest.fixture
def dialog(bench: Bench, window: MainWindow) -> TakeJoiner:
    choose_in_menu(bench, "Join two takes…")
    bench.until(lambda: window.findChildren(TakeJoiner))
    dialog = window.findChildren(TakeJoiner)[0]
    bench.until(dialog.join.isEnabled)
    return dialog


def click_word(dialog: TakeJoiner, word: str) -> None:
    cursor = dialog.text.textCursor()
    cursor.setPosition(TEXT.index(word) + 1)
    place = dialog.text.cursorRect(cursor).center()
    QTest.mouseClick(dialog.text.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_click_into_the_text_joins_there_and_undo_removes_the_take(bench: Bench, dialog: TakeJoiner) -> None:
    click_word(dialog, "and they")
    assert dialog.edges is not None
    end, start = dialog.edges
    assert 1.9 < end < 2.6, "in the pause of the first take"
    assert 1.9 < start < 2.6, "in the pause of the second take"
    bench.loop.call_soon(dialog.join.click)
    bench.until(lambda: len(takes(bench)) == 3)
    project, made = bench.session.editor.project, takes(bench)[2]
    assert bench.lines[0].chosen_take == made.id
    heard = project.samples_of(made.id)
    np.testing.assert_array_equal(heard[: 2 * RATE - RATE // 10], spoken(200)[: 2 * RATE - RATE // 10])
    assert len(heard) == pytest.approx((end + 4.5 - start) * RATE, abs=2)
    after = heard[-RATE:]
    assert np.abs(after).max() == pytest.approx(0.2, rel=0.05), "as loud as the first take"
    assert np.abs(np.fft.rfft(after)).argmax() == pytest.approx(400, abs=2)
    bench.trigger("edit.undo")
    assert len(takes(bench)) == 2
    assert bench.lines[0].chosen_take == takes(bench)[1].id


def test_swapped_takes_begin_with_the_second_one(bench: Bench, dialog: TakeJoiner) -> None:
    bench.loop.call_soon(dialog.swap.click)
    bench.until(lambda: not dialog.join.isEnabled() or dialog._takes[0].number == 2)
    bench.until(dialog.join.isEnabled)
    bench.loop.call_soon(dialog.join.click)
    bench.until(lambda: len(takes(bench)) == 3)
    heard = bench.session.editor.project.samples_of(takes(bench)[2].id)
    assert np.abs(np.fft.rfft(heard[:RATE])).argmax() == pytest.approx(400, abs=2)
    assert np.abs(np.fft.rfft(heard[-RATE:])).argmax() == pytest.approx(200, abs=2)


def test_edges_are_dragged_and_the_word_follows(bench: Bench, dialog: TakeJoiner) -> None:
    first, second = dialog.waveforms
    first.select(0.0, 1.0)
    first.selection_changed.emit(0.3, 1.0)  # the outer edge stays at the end of the take
    assert first.selection == (0.0, 1.0)
    second.select(2.5, 4.5)
    second.selection_changed.emit(2.5, 4.0)
    assert second.selection == (2.5, pytest.approx(4.5))
    assert dialog.edges == (1.0, 2.5)
    cursor = dialog.text.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    assert cursor.selectedText() in ("and", "they", "gulls")
    dialog.reject()


@pytest.mark.slow
def test_the_join_is_heard_before(bench: Bench, dialog: TakeJoiner) -> None:
    bench.loop.call_soon(dialog.play.click)
    bench.until(lambda: dialog._player.is_playing)
    assert dialog.play.text() == "Stop"
    bench.loop.call_soon(dialog.play.click)
    bench.until(lambda: not dialog._player.is_playing)
    assert len(takes(bench)) == 2
    dialog.reject()


def test_a_locked_line_keeps_its_takes(bench: Bench, window: MainWindow, dialog: TakeJoiner) -> None:
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"is_locked": True}}))
    assert not dialog.join.isEnabled()
    dialog.reject()
