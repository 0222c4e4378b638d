"""A voice is heard with one click on its card, or with Space in the list."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.voices.voice_list import VoiceList
from studio.app.window import MainWindow


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice("Anna")
    bench.add_voice("Berta")
    bench.add_take(np.full(24_000 * 20, 0.1, np.float32))
    window = bench.open_window()
    bench.live(0.05)
    return window


@pytest.fixture
def voices(window: MainWindow) -> VoiceList:
    return window.voices._list


def button_of(voices: VoiceList, row: int) -> QPoint:
    return voices._cards.play_area(voices.visualRect(voices.model().index(row, 0))).center()


def click(bench: Bench, voices: VoiceList, place: QPoint) -> None:
    bench.loop.call_soon(lambda: QTest.mouseClick(voices.viewport(), Qt.MouseButton.LeftButton, pos=place))
    bench.live(0.02)


def press(bench: Bench, voices: VoiceList, key: Qt.Key) -> None:
    voices.setFocus()
    bench.loop.call_soon(lambda: QTest.keyClick(voices, key))
    bench.live(0.02)


def test_one_click_plays_a_voice_and_another_one_stops_it(bench: Bench, window: MainWindow, voices: VoiceList) -> None:
    before = bench.lines[0].voice
    click(bench, voices, button_of(voices, 1))
    bench.until(lambda: voices._player.is_playing)
    assert voices.playing == "Berta"
    assert bench.lines[0].voice == before
    click(bench, voices, button_of(voices, 0))
    bench.until(lambda: voices.playing == "Anna" and voices._player.is_playing)
    click(bench, voices, button_of(voices, 0))
    assert voices.playing is None
    assert not voices._player.is_playing


def test_a_click_on_the_name_only_selects(bench: Bench, window: MainWindow, voices: VoiceList) -> None:
    click(bench, voices, voices.visualRect(voices.model().index(1, 0)).center())
    bench.live(0.1)
    assert voices.current_voice is not None
    assert voices.current_voice.name == "Berta"
    assert voices.playing is None


def test_space_plays_and_stops_and_esc_stops(bench: Bench, window: MainWindow, voices: VoiceList) -> None:
    window.voices.select("Berta")
    press(bench, voices, Qt.Key.Key_Space)
    bench.until(lambda: voices._player.is_playing)
    press(bench, voices, Qt.Key.Key_Space)
    assert not voices._player.is_playing
    press(bench, voices, Qt.Key.Key_Space)
    bench.until(lambda: voices._player.is_playing)
    press(bench, voices, Qt.Key.Key_Escape)
    assert not voices._player.is_playing
    assert voices.playing is None


@pytest.mark.slow
def test_the_button_shows_play_again_at_the_end_of_the_clip(
    bench: Bench, window: MainWindow, voices: VoiceList
) -> None:
    click(bench, voices, button_of(voices, 0))
    bench.until(lambda: voices._player.is_playing)
    bench.until(lambda: voices.playing is None)
    assert not voices._player.is_playing


def test_a_clip_and_a_take_never_play_together(bench: Bench, window: MainWindow, voices: VoiceList) -> None:
    bench.trigger("play.toggle")
    bench.until(lambda: bench.session.playback.player.is_playing)
    click(bench, voices, button_of(voices, 0))
    bench.until(lambda: voices._player.is_playing)
    assert not bench.session.playback.player.is_playing
    bench.trigger("play.toggle")
    bench.until(lambda: bench.session.playback.player.is_playing)
    assert not voices._player.is_playing


def test_enter_assigns_the_voice(bench: Bench, window: MainWindow, voices: VoiceList) -> None:
    window.voices.select("Berta")
    press(bench, voices, Qt.Key.Key_Return)
    assert bench.lines[0].voice == "Berta"
