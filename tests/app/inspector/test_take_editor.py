"""Editing a take: trimming it, and speaking selected words again."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.inspector.take_editor import TakeEditor
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.lines import LineState
from studio.project.take_match import TakeMatch, compare_take
from studio.project.takes import Take

RATE = 24_000
TEXT = "Nobody told the gulls, and they went on as ever."


def words(seconds: float, level: float = 0.2) -> np.ndarray:
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * 200 * times)).astype(np.float32)


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    """A line with a take of two seconds of tone, half a second of silence, and two seconds of tone."""
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": TEXT, "voice": "Anna"}}))
    bench.add_take(np.concatenate([words(2.0), np.zeros(RATE // 2, np.float32), words(2.0)]))
    return bench.open_window()


@pytest.fixture
def take(bench: Bench, window: MainWindow) -> Take:
    return bench.session.editor.project.takes_of(bench.lines[0].id)[0]


@pytest.fixture
def dialog(bench: Bench, window: MainWindow, take: Take) -> TakeEditor:
    bench.trigger("play.edit_take")
    dialog = window.findChildren(TakeEditor)[0]
    bench.until(dialog._play.isEnabled)
    return dialog


def select(dialog: TakeEditor, selected: str) -> None:
    start = TEXT.index(selected)
    cursor = dialog._text.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(start + len(selected), QTextCursor.MoveMode.KeepAnchor)
    dialog._text.setTextCursor(cursor)


def takes(bench: Bench) -> tuple[Take, ...]:
    return bench.session.editor.project.takes_of(bench.lines[0].id)


def test_trimming_is_heard_and_undone(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    project = bench.session.editor.project
    dialog._waveform.select(1.0, 4.0)
    dialog._trim.click()
    assert len(project.samples_of(take.id)) == 3 * RATE
    dialog._untrim.click()
    assert len(project.samples_of(take.id)) == round(4.5 * RATE)
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert project.take(take.id).trim_start_seconds == 0.0
    assert not dialog._untrim.isEnabled()
    dialog.reject()


def test_enter_presses_the_focused_button_and_not_the_default_one(bench: Bench, dialog: TakeEditor) -> None:
    dialog._waveform.select(1.0, 4.0)
    dialog.activateWindow()
    dialog._trim.setFocus()
    bench.until(dialog._trim.hasFocus)
    QTest.keyClick(dialog._trim, Qt.Key.Key_Return)
    assert dialog._untrim.isEnabled(), "the take was trimmed"
    assert dialog.isVisible()
    dialog.reject()


def test_selected_words_select_their_span_between_the_pauses(bench: Bench, dialog: TakeEditor) -> None:
    select(dialog, "Nobody told the gulls")
    assert dialog._waveform.selection is not None
    start, end = dialog._waveform.selection
    assert start == 0.0
    assert end == pytest.approx(2.0, abs=0.3)
    dialog.reject()


def test_keys_on_the_waveform_select_words(bench: Bench, dialog: TakeEditor) -> None:
    dialog._waveform.select(2.5, 4.5)
    dialog._waveform.setFocus()
    QTest.keyClick(dialog._waveform, Qt.Key.Key_Left)
    assert dialog._text.textCursor().selectedText().endswith("on as ever.")
    dialog.reject()


def test_words_are_said_again_as_a_new_take(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    project = bench.session.editor.project
    assert not dialog._say.isEnabled()  # no word is selected
    select(dialog, "Nobody told the gulls")
    dialog._say.click()
    assert not dialog._trim.isEnabled()
    bench.until(lambda: len(takes(bench)) == 2)
    made = takes(bench)[1]
    assert bench.lines[0].chosen_take == made.id
    assert compare_take(project, made) is TakeMatch.CURRENT
    assert project.state_of(bench.lines[0].id) is LineState.READY
    before, after = project.recording_of(take.id), project.recording_of(made.id)
    np.testing.assert_array_equal(after[-RATE * 2 :], before[-RATE * 2 :])
    assert not np.array_equal(after[:RATE], before[:RATE])
    bench.until(lambda: dialog.windowTitle() == "Edit Take 2")
    bench.until(lambda: dialog._player.is_playing)
    bench.trigger("edit.undo")
    assert [each.id for each in takes(bench)] == [take.id]
    assert bench.lines[0].chosen_take == take.id
    bench.trigger("edit.redo")
    np.testing.assert_array_equal(project.recording_of(made.id), after)
    dialog.reject()


def test_an_error_is_shown_and_the_take_stays(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    bench.library.remove("Anna")
    select(dialog, "Nobody told the gulls")
    dialog._say.click()
    bench.until(dialog._problem.isVisible)
    assert [each.id for each in takes(bench)] == [take.id]
    assert dialog._say.isEnabled()
    dialog.reject()


@pytest.mark.slow
def test_closing_the_dialog_cancels(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    select(dialog, "Nobody told the gulls")
    dialog._say.click()
    dialog.reject()
    bench.live(1.0)
    assert [each.id for each in takes(bench)] == [take.id]


def test_a_take_of_a_locked_line_is_not_changed(bench: Bench, window: MainWindow, take: Take) -> None:
    window.script.toggle_lock()
    bench.trigger("play.edit_take")
    dialog = window.findChildren(TakeEditor)[0]
    bench.until(dialog._play.isEnabled)
    select(dialog, "Nobody told the gulls")
    assert not dialog._say.isEnabled()
    assert not dialog._trim.isEnabled()
    assert "locked" in dialog._message.text()
    dialog.reject()
