"""Edits of a line are heard at once, and the waveform and thumbnail show them."""

from __future__ import annotations

import numpy as np
import pytest
from window_bench import Bench

from studio.app.window import MainWindow
from studio.project.changes import EditLines, EditTakes
from studio.project.takes import Take

RATE = 24_000


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    bench.add_take(np.full(20 * RATE, 0.1, np.float32))
    window = bench.open_window()
    bench.until(lambda: window.transport_bar.sound is not None)
    return window


@pytest.fixture
def take(bench: Bench, window: MainWindow) -> Take:
    return bench.session.editor.project.takes_of(bench.lines[0].id)[0]


def play(bench: Bench, take: Take, seconds: float = 0.0) -> None:
    bench.session.playback.play_take(take.id, start_seconds=seconds)
    bench.until(lambda: bench.session.playback.player.position_seconds > seconds)


@pytest.mark.slow
def test_a_change_of_volume_is_heard_while_the_take_plays(bench: Bench, window: MainWindow, take: Take) -> None:
    play(bench, take, seconds=8.0)
    window.script.set_field("gain_db", -6.0, "Change volume")
    before = bench.session.playback.player.now_playing
    bench.until(lambda: bench.session.playback.player.now_playing is not before)
    playing = bench.session.playback.player.now_playing
    assert playing is not None
    assert playing.edits.gain_db == -6.0
    assert np.abs(playing.audio.all()).max() == pytest.approx(0.1 * 10 ** (-6 / 20), rel=1e-4)
    bench.until(lambda: bench.session.playback.player.position_seconds >= 8.0)
    assert window.transport_bar.sound is playing.audio


@pytest.mark.slow
def test_playback_goes_on_at_the_same_place_of_a_stretched_take(bench: Bench, window: MainWindow, take: Take) -> None:
    play(bench, take, seconds=8.0)
    before = bench.session.playback.player.now_playing
    window.script.set_field("speed", 2.0, "Change speed")
    bench.until(lambda: bench.session.playback.player.now_playing is not before)
    bench.until(lambda: bench.session.playback.player.position_seconds > 0)
    assert 4.0 <= bench.session.playback.player.position_seconds < 8.0


@pytest.mark.slow
def test_the_shown_waveform_follows_the_edits(bench: Bench, window: MainWindow, take: Take) -> None:
    bench.session.editor.push(EditTakes({take.id: {"trim_start_seconds": 5.0, "trim_end_seconds": 5.0}}), "Trim take")
    bench.until(lambda: window.transport_bar.sound is not None and window.transport_bar.sound.seconds == 10.0)
    bench.trigger("edit.undo")
    bench.until(lambda: window.transport_bar.sound is not None and window.transport_bar.sound.seconds == 20.0)


@pytest.mark.slow
def test_a_take_played_after_an_edit_has_the_edit(bench: Bench, window: MainWindow, take: Take) -> None:
    play(bench, take)
    bench.session.playback.stop_and_cancel()
    window.script.set_field("gain_db", -6.0, "Change volume")
    play(bench, take)
    playing = bench.session.playback.player.now_playing
    assert playing is not None
    assert playing.edits.gain_db == -6.0
    audio = bench.run(bench.session.playback.read_audio(take.id))
    np.testing.assert_array_equal(audio.all(), bench.session.editor.project.samples_of(take.id))


@pytest.mark.slow
def test_the_thumbnail_follows_the_edits(bench: Bench, window: MainWindow, take: Take) -> None:
    thumbnails = bench.session.thumbnails
    bench.until(lambda: thumbnails.outline(take.id) is not None)
    loud = thumbnails.outline(take.id)
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"gain_db": -6.0}}))
    assert thumbnails.outline(take.id) is loud  # until the new one is ready
    bench.until(lambda: thumbnails.outline(take.id) is not loud)
    assert thumbnails.outline(take.id).loudest == pytest.approx(loud.loudest / 2, rel=0.01)  # type: ignore[union-attr]
