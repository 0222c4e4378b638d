"""Main use: write a line, press Ctrl+Enter, hear it while it is generated, keep the take."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.script.line_model import Column
from studio.project.lines import LineState
from studio.settings import TAKES_AT_ONCE


def speak_written(bench: Bench, text: str) -> None:
    """Write a line with the keyboard only."""
    window = bench.window
    assert window is not None
    window.script.view.setFocus()
    QTest.keyClicks(window.script.view, text[:1])
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, text[1:])
    bench.trigger("speak.line")


@pytest.mark.slow
def test_a_line_is_spoken_played_and_stored_sample_for_sample(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    speak_written(bench, "one two three four five")
    line = bench.lines[0]
    bench.until(lambda: bench.session.playback.player.is_playing)
    bench.until(lambda: bench.session.queue.current is None and not bench.session.playback.player.is_playing)
    line = bench.lines[0]
    assert line.text == "one two three four five"
    assert line.voice == "Anna"
    assert bench.session.editor.saved_state(line.id) is LineState.READY
    assert line.chosen_take is not None
    samples = bench.session.editor.project.samples_of(line.chosen_take)
    assert len(samples) == 5 * 2_400
    np.testing.assert_array_equal(bench.card.heard, samples)
    assert window.transport_bar.waveform.seconds == len(samples) / 24_000
    assert "Latency" in window.transport_bar._figures.text()


@pytest.mark.slow
def test_escape_while_typing_stops_playback(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    speak_written(bench, "one two three wait")
    field = window.script.view.text_field
    assert field is not None
    bench.until(lambda: bench.session.playback.player.position_seconds > 0.1)
    bench.loop.call_soon(lambda: QTest.keyClick(field, Qt.Key.Key_Escape))
    bench.until(lambda: not bench.session.playback.player.is_playing)
    assert window.script.view.text_field is field
    bench.until(lambda: bench.session.queue.current is None)


@pytest.mark.slow
def test_stop_ends_playback_and_keeps_the_generated_part_as_a_take(bench: Bench) -> None:
    bench.add_voice()
    bench.open_window()
    speak_written(bench, "one two three wait")
    bench.until(lambda: bench.session.playback.player.position_seconds > 0.1)
    assert bench.window is not None
    bench.trigger("play.stop")
    assert not bench.session.playback.player.is_playing
    bench.until(lambda: bench.session.queue.current is None)
    (take,) = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert not take.is_complete
    assert take.audio_seconds >= 0.3
    state = bench.window.script.view.model().index(0, Column.STATE)
    assert state.data() == "Stopped"
    assert "stopped before the end" in state.data(Qt.ItemDataRole.ToolTipRole)
    bench.live(0.1)
    silent_from = len(bench.card.heard)
    bench.live(0.2)
    assert len(bench.card.heard) == silent_from


@pytest.mark.slow
def test_a_second_take_has_another_seed_and_undo_of_the_choice_brings_the_first_back(bench: Bench) -> None:
    bench.add_voice()
    bench.open_window()
    speak_written(bench, "one two")
    bench.until(lambda: bench.lines[0].chosen_take is not None and not bench.session.playback.player.is_playing)
    first = bench.lines[0].chosen_take
    bench.trigger("speak.line")
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 2)
    bench.until(lambda: not bench.session.playback.player.is_playing)
    first_take, second_take = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert first_take.seed != second_take.seed
    assert bench.lines[0].chosen_take == second_take.id
    bench.trigger("play.previous_take")
    assert bench.lines[0].chosen_take == first
    bench.trigger("edit.undo")
    assert bench.lines[0].chosen_take == second_take.id


def test_the_state_of_a_line_follows_its_job(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    states: list[str] = []
    bench.session.line_statuses.changed.connect(
        lambda line_id: states.append(window.script._model.data(window.script._model.index(0, 1)))
    )
    speak_written(bench, "one two")
    bench.until(lambda: bench.lines[0].chosen_take is not None)
    assert states[0] == "Queued"
    assert any(state.startswith("Speaking") for state in states)
    assert states[-1] == "Ready"
    window.script.set_field("text", "one two three", "Edit")
    assert window.script._model.data(window.script._model.index(0, 1)) == "Changed"
    bench.trigger("edit.undo")
    assert window.script._model.data(window.script._model.index(0, 1)) == "Ready"


def test_a_failure_is_shown_in_its_row_and_does_not_stop_the_next_line(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("bug nothing here\n\nA second line of words.")
    bench.trigger("speak.stale")
    bench.until(lambda: bench.session.queue.current is None and not bench.session.queue.waiting)
    first, second = bench.lines
    model = window.script._model
    assert model.state_of(first) is LineState.FAILED
    assert model.state_of(second) is LineState.READY
    assert "fault" in model.data(model.index(0, 1), Qt.ItemDataRole.ToolTipRole) or window.notices.words


@pytest.mark.slow
def test_the_death_of_the_worker_is_reported_and_the_next_line_is_spoken(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    speak_written(bench, "one two wait")
    bench.until(lambda: bench.session.playback.player.position_seconds > 0.05)
    from thread_worker import ThreadWorker

    ThreadWorker.created[-1].kill()
    bench.until(lambda: bench.session.queue.current is None)
    assert "ended unexpectedly" in window.notices.words
    (stopped,) = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert not stopped.is_complete
    window.script.set_field("text", "one two", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 2)
    assert bench.session.editor.project.takes_of(bench.lines[0].id)[1].is_complete


@pytest.mark.slow
def test_play_all_waits_for_lines_being_generated(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("First line one two.\n\nSecond line one two three.")
    heard_lines: list[str] = []
    bench.session.playback.player.started.connect(lambda heard: heard_lines.append(heard.line_id))
    bench.trigger("speak.stale")
    window.script.view.go_to(bench.lines[0].id)
    bench.trigger("play.from_here")
    bench.until(lambda: bench.session.playback.script_player.is_active)
    bench.until(lambda: not bench.session.playback.script_player.is_active)
    assert heard_lines == [line.id for line in bench.lines]


def test_four_takes_have_four_seeds(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two", "Edit")
    bench.trigger("speak.takes")
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 4)
    assert len({take.seed for take in bench.session.editor.project.takes_of(bench.lines[0].id)}) == 4
    assert bench.session.editor.saved_state(bench.lines[0].id) is LineState.READY


def test_the_settings_define_the_number_of_takes(bench: Bench) -> None:
    bench.add_voice()
    bench.settings[TAKES_AT_ONCE] = 2
    bench.open_window()
    bench.trigger("edit.new_line")
    bench.window.script.set_field("text", "one", "Edit")
    bench.trigger("speak.takes")
    assert len(bench.session.queue.jobs) == 2


@pytest.mark.slow
def test_locked_lines_are_not_spoken(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two", "Edit")
    bench.trigger("edit.lock")
    bench.trigger("speak.line")
    bench.live(0.05)
    assert bench.session.queue.jobs == ()
    assert not window.inspector.form.isEnabled()


@pytest.mark.slow
def test_a_corrected_transcript_outdates_takes_and_a_renamed_voice_does_not(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    speak_written(bench, "one two")
    bench.until(lambda: bench.lines[0].chosen_take is not None and not bench.session.playback.player.is_playing)
    model = window.script._model
    window.voices._edits.rename(bench.library.get("Anna"), "Anne")
    bench.until(lambda: bench.lines[0].voice == "Anne")
    assert model.data(model.index(0, 1)) == "Ready"
    shown: list[str] = []
    model.dataChanged.connect(lambda *_: shown.append(model.data(model.index(0, 1))))
    bench.library.update_metadata("Anne", transcript="What Anna really says.")
    bench.refresh_voices()
    assert shown[-1] == "Changed"
