"""The waveform panel shows the playing take, else the chosen one, with the matching cursor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from window_bench import Bench

from studio.app.playback.audio_player import NowPlaying
from studio.app.window import MainWindow
from studio.project.changes import ChooseTake, InsertLines
from studio.project.lines import Line

RATE = 24_000


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    """Line 1 with a long take and a short chosen one; line 2 with a take long enough to leave it while it plays."""
    bench.add_voice()
    other = Line("other", text="The second line.", voice="Anna")
    bench.session.editor.apply(InsertLines(1, (other,)))
    bench.add_take(sound(30))
    bench.add_take(sound(2))
    bench.add_take(sound(60), line=1)
    window = bench.open_window()
    bench.until(lambda: shown_seconds(window) == 2)
    return window


def sound(seconds: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.full(seconds * RATE, 0.1, np.float32)


def shown_seconds(window: MainWindow) -> float:
    shown = window.transport_bar.sound
    return shown.seconds if shown else 0.0


def title(window: MainWindow) -> str:
    return window.transport_bar.title


def play(bench: Bench, window: MainWindow, line: int, take: int) -> NowPlaying:
    bench.session.playback.play_take(bench.session.editor.project.takes_of(bench.lines[line].id)[take].id)
    bench.until(lambda: bench.session.playback.player.position_seconds > 0)
    heard = bench.session.playback.player.now_playing
    assert heard is not None
    return heard


@pytest.mark.slow
def test_another_line_shows_no_playback_cursor(bench: Bench, window: MainWindow) -> None:
    window.script.view.go_to(bench.lines[1].id)
    heard = play(bench, window, line=1, take=0)
    bench.until(lambda: window.transport_bar.waveform.cursor_seconds is not None)
    window.script.view.go_to(bench.lines[0].id)
    bench.until(lambda: shown_seconds(window) == 2)
    positions: list[float] = []
    bench.session.playback.player.moved.connect(positions.append)
    bench.until(lambda: positions)
    assert window.transport_bar.waveform.cursor_seconds is None
    window.script.view.go_to(bench.lines[1].id)
    bench.until(lambda: window.transport_bar.sound is heard.audio)
    assert title(window).startswith("Line 2")
    bench.until(lambda: window.transport_bar.waveform.cursor_seconds is not None)


@pytest.mark.slow
def test_after_playback_the_chosen_take_is_shown(bench: Bench, window: MainWindow) -> None:
    first, second = bench.session.editor.project.takes_of(bench.lines[0].id)
    bench.session.editor.apply(ChooseTake(bench.lines[0].id, first.id))
    bench.until(lambda: shown_seconds(window) == 30)
    heard = play(bench, window, line=0, take=0)
    bench.session.editor.apply(ChooseTake(bench.lines[0].id, second.id))
    assert window.transport_bar.sound is heard.audio
    bench.session.playback.player.play(heard, start_seconds=29.8)
    assert window.transport_bar.sound is heard.audio
    bench.until(lambda: not bench.session.playback.player.is_playing)
    bench.until(lambda: shown_seconds(window) == 2)


def test_the_playing_take_stays_shown_during_edits(bench: Bench, window: MainWindow) -> None:
    heard = play(bench, window, line=1, take=0)
    assert window.transport_bar.sound is heard.audio
    window.script.set_field("text", "Other words.", "Edit")
    assert window.transport_bar.sound is heard.audio
    assert title(window).startswith("Line 2")
    bench.session.playback.stop_and_cancel()
    bench.until(lambda: shown_seconds(window) == 2)


def test_the_title_follows_the_number_of_the_line(bench: Bench, window: MainWindow) -> None:
    assert title(window).startswith("Line 1")
    bench.trigger("edit.move_down")
    assert title(window).startswith("Line 2")
