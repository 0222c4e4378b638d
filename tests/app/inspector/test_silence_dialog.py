"""Cutting the silence of one take, and of all selected lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from window_bench import Bench

from studio.app.inspector.silence_dialog import SilenceDialog
from studio.app.inspector.take_editor import TakeEditor
from studio.app.window import MainWindow
from studio.errors import DiskFull
from studio.project.changes import EditLines, InsertLines, SetTakeChecks
from studio.project.lines import Line
from studio.project.recording import TakeRecorder
from studio.project.takes import Take
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict, WordTime

RATE = 24_000


def spoken(pause: float = 1.3, hertz: float = 200) -> np.ndarray:
    """Return half a second of silence, a second of tone, a pause, a second of tone, and half a second of silence."""
    times = np.arange(RATE) / RATE
    tone = (0.2 * np.sin(2 * np.pi * hertz * times)).astype(np.float32)
    ends, middle = np.zeros(RATE // 2, np.float32), np.zeros(round(pause * RATE), np.float32)
    return np.concatenate([ends, tone, middle, tone, ends])


def check() -> TakeCheck:
    words = (WordTime("Hello,", 0.5, 1.5, 0, 6), WordTime("gulls.", 2.8, 3.8, 7, 13))
    silence = Problem(ProblemKind.LONG_SILENCE, 1.5, 2.8, confidence=0.8)
    return TakeCheck(Verdict.DOUBTFUL, (silence,), similarity=0.7, words=words)


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    editor = bench.session.editor
    editor.apply(EditLines({bench.lines[0].id: {"text": "Hello, gulls.", "voice": "Anna"}}))
    others = tuple(Line(id=f"line{number}", text="Hello, gulls.", voice="Anna") for number in (1, 2))
    editor.apply(InsertLines(1, others))
    for line in range(3):
        bench.add_take(spoken(), line=line)
    return bench.open_window()


def takes(bench: Bench, line: int = 0) -> tuple[Take, ...]:
    return bench.session.editor.project.takes_of(bench.lines[line].id)


def opened(bench: Bench, window: MainWindow) -> SilenceDialog:
    bench.until(lambda: window.findChildren(SilenceDialog))
    dialog = window.findChildren(SilenceDialog)[-1]
    bench.until(lambda: dialog.saved_seconds)
    return dialog


def choose_in_menu(bench: Bench, window: MainWindow, words: str) -> None:
    """Choose an entry of the context menu of the current take."""
    window.inspector.show_takes_page()
    window.inspector.takes.setCurrentIndex(window.inspector.takes.model().index(0, 0))
    window.inspector.takes.menu_requested.emit(QPoint(10, 10))
    actions = [action for menu in window.findChildren(QMenu) for action in menu.actions() if action.text() == words]
    bench.loop.call_soon(actions[-1].trigger)


def test_the_menu_of_a_take_cuts_its_silence_and_undo_removes_the_new_take(bench: Bench, window: MainWindow) -> None:
    bench.session.editor.apply(SetTakeChecks({takes(bench)[0].id: check()}))
    choose_in_menu(bench, window, "Cut silence…")
    dialog = opened(bench, window)
    assert dialog.windowTitle() == "Cut silence of Take 1"
    assert dialog.summary.text() == "1 take becomes shorter.\nSaved: 1.80 s of 4.30 s."
    dialog.pause.setFocus()
    dialog.pause.selectAll()
    QTest.keyClicks(dialog.pause, "0.50")
    QTest.keyClick(dialog.pause, Qt.Key.Key_Tab)
    assert dialog.summary.text().endswith("Saved: 1.60 s of 4.30 s.")
    bench.loop.call_soon(dialog.apply_button.click)
    bench.until(lambda: len(takes(bench)) == 2)
    before, made = takes(bench)
    assert bench.lines[0].chosen_take == made.id
    assert made.audio_seconds == pytest.approx(2.7, abs=0.001)
    assert made.parameters == before.parameters
    heard = bench.session.editor.project.samples_of(made.id)
    tone = spoken()[RATE // 2 : RATE // 2 + RATE]
    np.testing.assert_array_equal(heard[2400:26_400], tone)
    np.testing.assert_array_equal(heard[-26_400:-2400], tone)
    assert made.check is not None
    times = [(word.text, word.from_seconds, word.to_seconds) for word in made.check.words]
    assert times == [
        ("Hello,", pytest.approx(0.1), pytest.approx(1.1)),
        ("gulls.", pytest.approx(1.6), pytest.approx(2.6)),
    ]
    assert made.check.problems == (), "the silence is not long any more"
    assert made.check.verdict is Verdict.GOOD
    bench.until(lambda: not window.findChildren(SilenceDialog))
    bench.trigger("edit.undo")
    assert takes(bench) == (before,)
    assert bench.lines[0].chosen_take == before.id


def test_all_selected_lines_are_cut_in_one_step_except_locked_ones(bench: Bench, window: MainWindow) -> None:
    bench.session.editor.apply(EditLines({"line2": {"is_locked": True}}))
    window.script.view.setFocus()
    bench.trigger("edit.select_all")
    bench.trigger("play.cut_silence")
    dialog = opened(bench, window)
    text = "2 takes become shorter.\nSaved: 3.60 s of 8.60 s.\n1 locked line keeps its take."
    assert dialog.summary.text() == text
    assert not dialog.play.isVisible()
    said: list[str] = []
    dialog.message.connect(said.append)
    bench.loop.call_soon(dialog.apply_button.click)
    bench.until(lambda: len(takes(bench, 1)) == 2)
    assert [len(takes(bench, line)) for line in range(3)] == [2, 2, 1]
    assert said == ["2 takes shortened, by 3.60 s."]
    bench.trigger("edit.undo")
    assert [len(takes(bench, line)) for line in range(3)] == [1, 1, 1]
    bench.trigger("edit.redo")
    assert [len(takes(bench, line)) for line in range(3)] == [2, 2, 1]


def test_the_trimmed_part_is_cut_and_words_are_moved_with_it(bench: Bench, window: MainWindow) -> None:
    editor, take = bench.session.editor, takes(bench)[0]
    editor.apply(SetTakeChecks({take.id: check()}))
    bench.trigger("play.edit_take")
    bench.until(lambda: window.findChildren(TakeEditor))
    take_editor = window.findChildren(TakeEditor)[-1]
    bench.until(take_editor._trim.isEnabled)
    take_editor._waveform.select(0.4, 4.3)
    take_editor._trim.click()
    bench.loop.call_soon(take_editor._cut.click)
    bench.until(lambda: take_editor.findChildren(SilenceDialog))
    dialog = take_editor.findChildren(SilenceDialog)[-1]
    bench.until(lambda: dialog.saved_seconds)
    assert dialog.summary.text().endswith("Saved: 1.40 s of 3.90 s.")
    bench.loop.call_soon(dialog.apply_button.click)
    bench.until(lambda: len(takes(bench)) == 2 and take_editor._take.id == takes(bench)[1].id)
    made = takes(bench)[1]
    assert (made.trim_start_seconds, made.trim_end_seconds) == (0.0, 0.0)
    assert made.audio_seconds == pytest.approx(2.5, abs=0.001)
    assert made.check is not None
    assert made.check.words[0].from_seconds == pytest.approx(0.1)
    assert made.check.words[1].from_seconds == pytest.approx(1.4)
    assert takes(bench)[0] == replace(take, check=check(), trim_start_seconds=0.4, trim_end_seconds=pytest.approx(0.0))
    take_editor.reject()


def test_the_result_is_heard_before(bench: Bench, window: MainWindow) -> None:
    bench.trigger("play.cut_silence")
    dialog = opened(bench, window)
    bench.loop.call_soon(dialog.play.click)
    bench.until(lambda: dialog._player.is_playing)
    assert dialog.play.text() == "Stop"
    bench.loop.call_soon(dialog.play.click)
    bench.until(lambda: not dialog._player.is_playing)
    assert len(takes(bench)) == 1
    dialog.reject()


def test_without_a_longer_pause_there_is_nothing_to_cut(bench: Bench, window: MainWindow) -> None:
    bench.trigger("play.cut_silence")
    dialog = opened(bench, window)
    dialog.pause.setValue(2.0)
    dialog.ends.setValue(1.0)
    assert dialog.summary.text() == "No pause is longer than this."
    assert not dialog.apply_button.isEnabled()
    dialog.reject()


def test_a_full_disk_is_reported_and_adds_no_take(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.trigger("play.cut_silence")
    dialog = opened(bench, window)

    def fail(_: TakeRecorder) -> Take:
        raise DiskFull("The disk is full.", remedy="Free some space.")

    monkeypatch.setattr(TakeRecorder, "finish", fail)
    bench.loop.call_soon(dialog.apply_button.click)
    bench.until(lambda: dialog._problem.words)
    assert "The disk is full." in dialog._problem.words
    assert dialog.apply_button.isEnabled()
    assert len(takes(bench)) == 1
    assert not bench.session.editor.project._recorders, "the unfinished recordings are discarded"
    dialog.reject()
