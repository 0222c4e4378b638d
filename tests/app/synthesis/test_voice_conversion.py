"""Voice conversion adds a line with a take; undo removes both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog
from window_bench import Bench, clip_of_noise

from studio.app.window import MainWindow
from studio.pipeline.request import Mode
from studio.project.lines import LineState


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    window = bench.open_window()
    bench.live(0.05)
    return window


def is_over(bench: Bench) -> bool:
    return bench.session.queue.current is None and not bench.session.queue.waiting


@pytest.mark.slow
def test_a_chosen_file_becomes_a_line_with_a_played_take(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "A line of words.", "Edit")
    recording = clip_of_noise(bench.folder / "A speech.wav", 2.0)
    bench.trigger("speak.recording")
    (dialog,) = window.findChildren(QFileDialog)
    assert "Anna" in dialog.windowTitle()
    bench.loop.call_soon(dialog.fileSelected.emit, str(recording))
    bench.live(0.02)
    dialog.close()
    bench.until(lambda: len(bench.lines) == 2 and bench.lines[1].chosen_take)
    bench.until(lambda: is_over(bench) and not bench.session.playback.player.is_playing)
    line = bench.lines[1]
    assert (line.text, line.voice) == ("A speech", "Anna")
    assert window.script.current_line == line
    assert bench.session.editor.saved_state(line.id) is LineState.READY
    (take,) = bench.session.editor.project.takes_of(line.id)
    assert (take.parameters.mode, take.parameters.text, take.is_complete) == (
        Mode.CONVERSION.value,
        "A speech.wav",
        True,
    )
    assert take.parameters.voice_key
    assert take.parameters.model_key
    np.testing.assert_array_equal(bench.card.heard, bench.session.editor.project.samples_of(take.id))
    bench.trigger("edit.undo")
    assert bench.texts == ["A line of words."]
    bench.trigger("edit.redo")
    assert bench.session.editor.saved_state(line.id) is LineState.READY


def test_a_conversion_shows_progress_and_can_be_cancelled_and_retried(bench: Bench, window: MainWindow) -> None:
    recording = clip_of_noise(bench.folder / "Long.wav")
    states: list[str] = []
    bench.session.line_statuses.changed.connect(states.append)
    bench.session.queue.set_paused(True)
    bench.loop.call_soon(bench.parts.recordings.speak, recording)
    bench.live(0.05)
    (line,) = bench.lines  # replaces the empty line
    (job,) = bench.session.queue.jobs
    bench.trigger("speak.cancel")
    assert bench.session.editor.saved_state(line.id) is LineState.DRAFT
    bench.session.queue.set_paused(False)
    bench.loop.call_soon(bench.session.queue.retry, job)
    bench.until(lambda: bench.lines[0].chosen_take is not None and is_over(bench))
    assert line.id in states
    (take,) = bench.session.editor.project.takes_of(line.id)
    assert take.parameters.mode == Mode.CONVERSION.value


@pytest.mark.slow
def test_a_cancelled_conversion_keeps_its_audio_and_the_next_job_runs(bench: Bench, window: MainWindow) -> None:
    bench.loop.call_soon(bench.parts.recordings.speak, clip_of_noise(bench.folder / "This will wait.wav"))
    bench.until(lambda: bench.card.heard.size > 2_400)
    assert bench.session.queue.current is not None
    bench.loop.call_soon(window.status.cancel_requested.emit)
    bench.until(lambda: is_over(bench))
    (line,) = bench.lines
    (take,) = bench.session.editor.project.takes_of(line.id)
    assert not take.is_complete
    assert take.parameters.mode == Mode.CONVERSION.value
    assert len(bench.session.editor.project.samples_of(take.id)) == 2 * 2_400
    assert window.notices.words == ""
    window.script.new_line()
    window.script.set_field("text", "one two", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: bench.lines[1].chosen_take is not None and is_over(bench))


def test_an_unreadable_recording_is_reported_and_can_be_retried(bench: Bench, window: MainWindow) -> None:
    recording = bench.folder / "Letter.wav"
    recording.write_bytes(b"This is not audio.")
    bench.loop.call_soon(bench.parts.recordings.speak, recording)
    bench.until(lambda: window.notices.words)
    assert "Letter.wav is not a readable audio file" in window.notices.words
    (line,) = bench.lines
    (job,) = bench.session.queue.jobs
    live = bench.session.line_statuses.of(line.id)
    assert live is not None
    assert live.state is LineState.FAILED
    assert bench.session.editor.project.takes_of(line.id) == ()
    clip_of_noise(recording)
    bench.loop.call_soon(bench.session.queue.retry, job)
    bench.until(lambda: bench.lines[0].chosen_take is not None and is_over(bench))


def test_a_line_without_a_voice_asks_for_one(bench: Bench) -> None:
    window = bench.open_window()
    bench.trigger("speak.recording")
    assert "no voice" in window.notices.words
    assert not window.findChildren(QFileDialog)
    bench.parts.recordings.speak(Path("x.wav"))
    assert bench.session.queue.jobs == ()
