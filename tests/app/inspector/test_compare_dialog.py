"""The compare dialog: blind letters, keyboard control, one undo step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from window_bench import Bench

from studio.app.inspector.compare_dialog import CompareDialog
from studio.app.window import MainWindow
from studio.errors import NoAudioDevice, TextTooLong
from studio.settings import COMPARES_BLINDLY

RATE = 24_000


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    bench.live(0.05)
    window.script.set_field("text", "A line that was read three times.", "Edit")
    draw = np.random.default_rng(5)
    for number in range(3):
        noise = draw.standard_normal(RATE) * 0.05 * (number + 1)
        bench.add_take(noise.astype(np.float32), seed=100 + number)
    return window


def open_dialog(bench: Bench, window: MainWindow) -> CompareDialog:
    bench.trigger("play.compare_takes")
    (dialog,) = window.findChildren(CompareDialog)
    bench.until(lambda: "loud" in dialog.words, 60)
    return dialog


def press(bench: Bench, dialog: CompareDialog, key: Qt.Key) -> None:
    bench.loop.call_soon(lambda: QTest.keyClick(QApplication.focusWidget() or dialog, key))
    bench.live(0.03)


def leave(bench: Bench, dialog: CompareDialog) -> None:
    bench.loop.call_soon(dialog.reject)
    bench.live(0.1)


def test_takes_stay_hidden_until_one_is_chosen_and_undo_reverts_it(bench: Bench, window: MainWindow) -> None:
    before = bench.lines[0].chosen_take
    dialog = open_dialog(bench, window)
    assert dialog._comparison.is_playing
    assert not any("Take" in words or "seed" in words for words in dialog.details)
    others = [index for index, each in enumerate(dialog._comparison.entries) if each.take.id != before]
    press(bench, dialog, Qt.Key.Key_A + others[0])
    assert dialog._comparison.current == others[0]
    assert "playing" in dialog.details[others[0]]
    wanted = dialog._comparison.entries[others[0]].take
    press(bench, dialog, Qt.Key.Key_Return)
    assert bench.lines[0].chosen_take == wanted.id
    assert f"Take {wanted.number}" in dialog.details[others[0]]
    assert f"take {wanted.number}. The line uses it now" in dialog.words
    assert not dialog._comparison.is_playing
    press(bench, dialog, Qt.Key.Key_Return)
    bench.until(lambda: not window.findChildren(CompareDialog))
    bench.trigger("edit.undo")
    assert bench.lines[0].chosen_take == before


@pytest.mark.slow
def test_keys_switch_play_and_close(bench: Bench, window: MainWindow) -> None:
    dialog = open_dialog(bench, window)
    comparison = dialog._comparison
    press(bench, dialog, Qt.Key.Key_X)
    assert comparison.current == 1
    press(bench, dialog, Qt.Key.Key_Space)
    assert not comparison.is_playing
    press(bench, dialog, Qt.Key.Key_Space)
    assert comparison.is_playing
    press(bench, dialog, Qt.Key.Key_R)
    assert comparison.is_playing
    assert comparison.current == 0
    steps = bench.session.editor.undo_stack.count()
    press(bench, dialog, Qt.Key.Key_Escape)
    bench.until(lambda: not window.findChildren(CompareDialog))
    bench.until(lambda: not bench.card.is_running)
    assert bench.session.editor.undo_stack.count() == steps


def test_choosing_the_chosen_take_adds_no_undo_step(bench: Bench, window: MainWindow) -> None:
    dialog = open_dialog(bench, window)
    ids = [entry.take.id for entry in dialog._comparison.entries]
    dialog._letters[ids.index(bench.lines[0].chosen_take)].click()  # type: ignore[arg-type]
    steps = bench.session.editor.undo_stack.count()
    press(bench, dialog, Qt.Key.Key_Return)
    assert "already chosen" in dialog.words
    assert bench.session.editor.undo_stack.count() == steps
    leave(bench, dialog)


def test_a_choice_replaces_a_take_chosen_meanwhile(bench: Bench, window: MainWindow) -> None:
    before = bench.lines[0].chosen_take
    dialog = open_dialog(bench, window)
    assert not dialog._count.isVisible()
    noise = np.random.default_rng(6).standard_normal(RATE) * 0.05
    newer = bench.add_take(noise.astype(np.float32), seed=200)
    assert bench.lines[0].chosen_take == newer.id
    assert dialog._count.text() == "Comparing 3 of 4 takes of this line"
    assert dialog._count.isVisible()
    ids = [entry.take.id for entry in dialog._comparison.entries]
    dialog._letters[ids.index(before)].click()  # type: ignore[arg-type]
    press(bench, dialog, Qt.Key.Key_Return)
    assert bench.lines[0].chosen_take == before
    assert "The line uses it now" in dialog.words
    leave(bench, dialog)


def test_a_choice_applies_to_the_compared_line(bench: Bench, window: MainWindow) -> None:
    dialog = open_dialog(bench, window)
    takes = [entry.take for entry in dialog._comparison.entries]
    other = next(index for index, take in enumerate(takes) if take.id != bench.lines[0].chosen_take)
    window.script.new_line()
    dialog._letters[other].click()
    press(bench, dialog, Qt.Key.Key_Return)
    assert bench.lines[0].chosen_take == takes[other].id
    assert bench.lines[1].chosen_take is None
    leave(bench, dialog)


def test_a_locked_line_keeps_its_take(bench: Bench, window: MainWindow) -> None:
    before = bench.lines[0].chosen_take
    window.script.toggle_lock()
    dialog = open_dialog(bench, window)
    takes = [entry.take.id for entry in dialog._comparison.entries]
    dialog._letters[next(index for index, take in enumerate(takes) if take != before)].click()
    press(bench, dialog, Qt.Key.Key_Return)
    assert bench.lines[0].chosen_take == before
    assert "locked and keeps its take" in dialog.words
    leave(bench, dialog)


@pytest.mark.slow
def test_blind_mode_is_remembered(bench: Bench, window: MainWindow) -> None:
    dialog = open_dialog(bench, window)
    bench.loop.call_soon(dialog._blind.click)
    bench.live(0.05)
    assert [words.split(" ·")[0] for words in dialog.details] == ["Take 1", "Take 2", "Take 3 (chosen)"]
    assert "−" in dialog.details[2], "how much the loudest is turned down"
    assert "±0\N{NO-BREAK SPACE}dB" in dialog.details[0]
    assert not bench.settings[COMPARES_BLINDLY]
    leave(bench, dialog)


def test_selecting_two_takes_compares_them_and_chooses_none(bench: Bench, window: MainWindow) -> None:
    takes = window.inspector.takes
    chosen = bench.lines[0].chosen_take
    takes.item(1).setSelected(True)
    assert bench.lines[0].chosen_take == chosen
    assert len(window.inspector.takes.selected_takes) == 2
    dialog = open_dialog(bench, window)
    numbers = sorted(entry.take.number for entry in dialog._comparison.entries)
    assert numbers == [2, 3]
    leave(bench, dialog)


def test_a_take_of_a_locked_line_can_be_played(bench: Bench, window: MainWindow) -> None:
    window.script.toggle_lock()
    first = window.takes.takes[0]
    window.inspector.takes.setFocus()
    bench.loop.call_soon(lambda: QTest.keyClick(window.inspector.takes, Qt.Key.Key_1))
    bench.until(lambda: bench.session.playback.player.now_playing is not None)
    assert bench.session.playback.player.now_playing.take_id == first.id  # type: ignore[union-attr]
    assert bench.lines[0].chosen_take != first.id


def test_restoring_a_take_of_a_locked_line_does_not_choose_it(bench: Bench, window: MainWindow) -> None:
    bench.trigger("play.remove_take")
    before = bench.lines[0].chosen_take
    window.script.toggle_lock()
    bench.trigger("play.restore_take")
    assert len(window.takes.takes) == 3
    assert bench.lines[0].chosen_take == before


def test_a_missing_device_is_shown_until_playback_works(
    bench: Bench, window: MainWindow, report_of: Callable[[QWidget], str]
) -> None:
    dialog = open_dialog(bench, window)
    dialog._comparison.failed.emit(NoAudioDevice("The sound card is gone.", remedy="Connect it."))
    assert report_of(dialog).startswith("error: no-audio-device\n")
    dialog._show_current()
    assert not dialog._problem.isVisible()
    leave(bench, dialog)


def test_an_error_replaces_the_normalized_text(
    bench: Bench, window: MainWindow, report_of: Callable[[QWidget], str]
) -> None:
    window.inspector.show_normalized_text(TextTooLong("The text has {count} letters.", remedy="Cut it.", count=9))
    assert window.inspector.spoken_words == ""
    assert report_of(window.inspector).startswith("error: text-too-long\n")
    window.inspector.show_normalized_text("nine letters")
    assert not window.inspector._problem.isVisible()


def test_one_take_alone_cannot_be_compared(bench: Bench, window: MainWindow) -> None:
    window.script.new_line()
    bench.live(0.02)
    assert not window.actions_by_id["play.compare_takes"].isEnabled()
