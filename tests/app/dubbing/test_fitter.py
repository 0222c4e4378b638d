"""Fitting of takes to their slots in the window: at once, and with new takes from the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench

from studio.app.dubbing.fit_dialog import FitDialog
from studio.app.translation import use_language
from studio.project.changes import EditLines, InsertLines
from studio.project.dubbing import Retakes, take_seconds
from studio.project.lines import Line, LineState, LineStyle, Slot

pytestmark = pytest.mark.usefixtures("no_spare_silence")

RATE = 24_000
STYLE = "speed.fast"


@pytest.fixture
def dub(make_bench: Callable[..., Any]) -> Bench:
    """A window with 60 cues, of which 20 takes are 10 % to 97 % too long."""
    bench: Bench = make_bench()
    bench.add_voice()
    lines = tuple(
        Line(id=f"cue{n}", text=f"Cue number {n}.", voice="Anna", slot=Slot(3.0 * n, 3.0 * n + 1.0)) for n in range(60)
    )
    bench.session.editor.apply(InsertLines(0, lines))
    for n in range(60):
        seconds = 0.6 if n % 3 else 1.1 + 0.015 * n
        bench.add_take(np.full(round(seconds * RATE), 0.01, np.float32), line=n)
    bench.open_window()
    return bench


def overruns(bench: Bench) -> list[float]:
    script = bench.session.editor.script
    lengths = [(take_seconds(script, line) or 0.0) - line.slot.seconds for line in script.lines if line.slot]
    return [length for length in lengths if length > 0.1]


def open_dialog(bench: Bench) -> FitDialog:
    window = bench.window
    assert window is not None
    bench.trigger("speak.fit_all")
    return next(dialog for dialog in window.findChildren(FitDialog) if dialog.isVisible())


def texts(dialog: FitDialog, row: int) -> list[str]:
    item = dialog.table.topLevelItem(row)
    assert item is not None
    return [item.text(column) for column in range(6)]


@pytest.mark.slow
def test_chinese_sentences_have_no_space_between_them(dub: Bench, qapp: QApplication) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        dialog = open_dialog(dub)
        dialog.retakes.setCurrentIndex(0)
        dub.click(dialog.apply_button)
        dub.until(lambda: not dialog.apply_button.isEnabled())
        assert dialog.summary.text().count("。") == 2
        assert "。 " not in dialog.summary.text()
    finally:
        use_language(qapp, QLocale("en_US"))


@pytest.mark.slow
def test_fit_all_lists_the_worst_first_and_marks_what_remains(dub: Bench) -> None:
    dialog = open_dialog(dub)
    assert dialog.summary.text() == "Longer than their slots: 20 of 60 takes."
    assert dialog.table.topLevelItemCount() == 60
    assert texts(dialog, 0)[:5] == ["58", "Cue number 57.", "1.00 s", "1.96 s", "+0.96 s"]
    dialog.retakes.setCurrentIndex(0)
    assert texts(dialog, 0)[5] == "Speed up 1.25× · 0.56 s too long"
    assert texts(dialog, 59)[5] == "Fits"

    before = dub.session.editor.script
    dub.click(dialog.apply_button)
    assert dialog.summary.text() == "5 lines fitted. 15 lines remain too long; they are marked."
    assert 0 < len(overruns(dub)) <= 15
    assert dub.session.editor.undo_stack.count() == 1
    assert dub.session.editor.undo_stack.undoText() == "Fit to slots"
    assert not dub.session.queue.jobs
    dub.session.editor.undo_stack.undo()
    assert dub.session.editor.script == before


@pytest.mark.slow
def test_a_take_that_fits_exactly_has_no_negative_overrun(dub: Bench) -> None:
    assert dub.window is not None
    line = dub.lines[0]
    seconds = take_seconds(dub.session.editor.script, line)
    assert seconds is not None
    assert line.slot is not None
    dub.window.dubbing.set_slot(line.id, Slot(line.slot.start_seconds, line.slot.start_seconds + seconds + 0.001))
    dialog = open_dialog(dub)
    assert "+0.00 s" in {texts(dialog, row)[4] for row in range(dialog.table.topLevelItemCount())}


@pytest.mark.slow
def test_wider_limits_leave_nothing_too_long(dub: Bench) -> None:
    dialog = open_dialog(dub)
    dialog.fastest.setFocus()
    dialog.fastest.selectAll()
    QTest.keyClicks(dialog.fastest, "2")
    dub.click(dialog.apply_button)
    assert overruns(dub) == []
    assert dialog.summary.text() == "20 lines fitted."
    assert {dub.session.editor.saved_state(line.id) for line in dub.lines if line.slot} == {LineState.READY}
    dialog.reject()
    assert open_dialog(dub).fastest.value() == 2.0


@pytest.mark.slow
def test_fit_to_slot_for_the_selected_lines(dub: Bench) -> None:
    assert dub.window is not None
    dub.window.script.view.select_lines(["cue3", "cue6"])
    messages: list[str] = []
    dub.window.dubbing.message.connect(messages.append)
    dub.trigger("speak.fit")
    script = dub.session.editor.script
    assert [script.line(name).speed for name in ("cue0", "cue3", "cue6")] == [1.0, 1.145, 1.19]
    assert messages == ["2 lines fitted."]


@pytest.mark.slow
def test_lines_are_spoken_again_in_a_faster_style(dub: Bench) -> None:
    """The new takes and their stretches are one undo step, which restores style and take."""
    assert dub.window is not None
    editor, fitter = dub.session.editor, dub.window.dubbing.fitter
    editor.apply(EditLines({line.id: {"slot": None} for line in dub.lines if line.id != "cue57"}))
    before = editor.script
    dialog = open_dialog(dub)
    assert dialog.retakes.currentData() is Retakes.BEYOND_LIMITS
    assert dialog.options.faster_style == STYLE
    assert texts(dialog, 0)[5] == "Speak again faster"
    dub.click(dialog.apply_button)
    assert dialog.progress.isVisible()
    assert editor.script.line("cue57").style == LineStyle(preset=STYLE)
    dub.until(lambda: not fitter.is_busy)

    old, new = editor.script.takes_of("cue57")
    line = editor.script.line("cue57")
    is_shorter = new.audio_seconds < old.audio_seconds
    assert line.chosen_take == (new.id if is_shorter else old.id)
    assert line.style == (LineStyle(preset=STYLE) if is_shorter else LineStyle())
    assert not dialog.progress.isVisible()
    assert editor.undo_stack.count() == 1
    editor.undo_stack.undo()
    assert editor.script.lines == before.lines


@pytest.mark.slow
def test_cancelled_retakes_keep_their_take_and_stretch_it(dub: Bench) -> None:
    assert dub.window is not None
    editor = dub.session.editor
    dub.session.queue.set_paused(True)
    dialog = open_dialog(dub)
    dub.click(dialog.apply_button)
    assert dub.session.queue.waiting
    dub.click(dialog.cancel_button)
    assert not dub.window.dubbing.fitter.is_busy
    assert {line.style for line in editor.script.lines} == {LineStyle()}
    assert editor.script.line("cue57").speed == 1.25
    assert all(len(editor.script.takes_of(line.id)) == 1 for line in editor.script.lines if line.slot)


def test_the_actions_need_slots(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    assert not window.actions_by_id["speak.fit_all"].isEnabled()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"slot": Slot(1.0, 2.0)}}))
    assert window.actions_by_id["speak.fit_all"].isEnabled()
    messages: list[str] = []
    window.dubbing.message.connect(messages.append)
    bench.trigger("speak.fit")
    assert messages == ["The selected lines have no take with a slot."]


def test_the_slot_is_typed_in_the_inspector(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    fields, editor, line_id = window.dubbing.slot_fields, bench.session.editor, bench.lines[0].id
    assert not fields.isVisibleTo(window)
    editor.apply(EditLines({line_id: {"slot": Slot(1.5, 2.5)}}))
    assert fields.isVisibleTo(window)
    assert (fields.start.value(), fields.end.value()) == (1.5, 2.5)
    fields.end.setFocus()
    fields.end.selectAll()
    QTest.keyClicks(fields.end, "3.25")
    QTest.keyClick(fields.end, Qt.Key.Key_Return)
    assert editor.script.line(line_id).slot == Slot(1.5, 3.25)
    fields.start.selectAll()
    QTest.keyClicks(fields.start, "10")
    fields.commit()
    assert editor.script.line(line_id).slot == Slot(10.0, 11.75)
    editor.undo_stack.undo()
    assert editor.script.line(line_id).slot == Slot(1.5, 2.5)
    assert fields.start.value() == 1.5
