"""Takes whose length does not fit their text are marked and reported."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from window_bench import Bench

from studio.app.script.line_model import Column
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.lines import LineState

# The fake model reports "mumble" as too long for its text if the take is played while it is generated, and "babble" in
# every case.
WARNING = "This take is longer than expected for its text."


def open_line(bench: Bench, text: str) -> MainWindow:
    bench.add_voice()
    window = bench.open_window()
    line = bench.lines[0]
    bench.session.editor.apply(EditLines({line.id: {"text": text, "voice": "Anna"}}))
    return window


def speak(bench: Bench, *, plays: bool) -> None:
    num_takes = len(bench.session.editor.project.takes_of(bench.lines[0].id))
    bench.session.synthesis.speak([bench.lines[0].id], plays=plays)
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) > num_takes)
    bench.until(lambda: bench.session.queue.current is None)


def state_cell(window: MainWindow, role: Qt.ItemDataRole = Qt.ItemDataRole.DisplayRole) -> str:
    return str(window.script.view.model().index(0, Column.STATE).data(role))


def state(bench: Bench) -> LineState:
    return bench.session.editor.project.state_of(bench.lines[0].id)


def test_a_played_take_of_odd_length_offers_to_speak_again(bench: Bench) -> None:
    window = open_line(bench, "mumble two")
    speak(bench, plays=True)
    assert state(bench) is LineState.CHECK
    assert state_cell(window) == "Review"
    assert state_cell(window, Qt.ItemDataRole.ToolTipRole).startswith(WARNING)
    assert window.notices.words.startswith(WARNING)
    (offer,) = [button for button in window.notices.findChildren(QPushButton) if button.text() == "Speak again"]
    offer.click()
    bench.until(lambda: state(bench) is LineState.READY)
    assert state_cell(window) == "Ready"


@pytest.mark.slow
def test_a_background_take_is_checked_before_playback(bench: Bench) -> None:
    window = open_line(bench, "mumble two")
    speak(bench, plays=False)
    assert state(bench) is LineState.READY
    assert window.notices.words == ""


@pytest.mark.slow
def test_speak_changed_lines_includes_odd_lengths(bench: Bench) -> None:
    open_line(bench, "mumble two")
    speak(bench, plays=True)
    bench.session.synthesis.speak_changed_lines()
    bench.until(lambda: state(bench) is LineState.READY)


@pytest.mark.slow
def test_background_takes_show_no_notice(bench: Bench) -> None:
    window = open_line(bench, "babble two")
    speak(bench, plays=False)
    assert state(bench) is LineState.CHECK
    assert window.notices.words == ""
