"""Output devices of the window: selected, disconnected, and opened before the first audio arrives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sound_card import CardOutputs, DefaultOnlyOutputs, NoOutputs, SoundCard
from window_bench import Bench

from studio.app.playback.audio_player import AudioPlayer, NowPlaying
from studio.app.widgets.waveform_painting import time_text
from studio.audio.player import PlaybackEnd, StreamingAudio
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.settings import OUTPUT_DEVICE

RATE = 24_000
SOUND = np.linspace(0.1, 0.9, RATE, dtype=np.float32)  # each sample differs, so that samples show their position


@pytest.mark.slow
def test_a_larger_buffer_is_reported_once(make_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    card = SoundCard(runs_dry_below=0.5)
    bench: Bench = make_bench(outputs=CardOutputs(card))
    bench.add_voice()
    window = bench.open_window()
    hints: list[str] = []
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    for _ in range(2):
        window.script.set_field("text", " ".join(["word"] * 12), "Edit")
        bench.trigger("speak.line")
        bench.until(lambda: bench.session.playback.player.is_playing)
        bench.until(lambda: not bench.session.playback.player.is_playing)
    assert card.buffers == [0.15, 0.3, 0.6, 0.6], "the second take starts with the buffer that the first one needed"
    assert hints == ["Playback stuttered; the buffer has been enlarged."]


@pytest.mark.slow
def test_without_a_device_the_take_is_kept_and_a_hint_is_shown(make_bench: Callable[..., Any]) -> None:
    bench: Bench = make_bench(outputs=NoOutputs(SoundCard()))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two three", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: bench.lines[0].chosen_take is not None and not bench.session.playback.player.is_playing)
    bench.until(lambda: "no output device" in window.notices.words)
    (take,) = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert take.is_complete
    length = time_text(take.audio_seconds)
    bench.until(lambda: window.transport_bar._time.text() == f"0:00.0 / {length}", 5.0)


@pytest.mark.slow
def test_playback_moves_to_a_newly_selected_device(make_bench: Callable[..., Any]) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", " ".join(["word"] * 15), "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.playback.player.position_seconds > 0.2)
    bench.settings[OUTPUT_DEVICE] = "headset"
    bench.until(lambda: len(headset.heard) > 0)
    bench.until(lambda: not bench.session.playback.player.is_playing)
    assert len(default.heard) < 15 * 2_400


@pytest.mark.slow
def test_a_fallback_device_is_reported_once(make_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = DefaultOnlyOutputs(SoundCard())
    bench: Bench = make_bench(outputs=outputs)
    bench.add_voice()
    take = bench.add_take(SOUND[:2400], sample_rate=RATE)
    window = bench.open_window()
    bench.settings[OUTPUT_DEVICE] = "headset"
    bench.until(lambda: bench.session.playback.player.device == "headset")
    hints: list[str] = []
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    monkeypatch.setattr(window.notices, "show_error", lambda error: hints.append(str(error)))
    ends: list[PlaybackEnd] = []
    bench.session.playback.player.ended.connect(ends.append)

    def play_once() -> None:
        num_ends = len(ends)
        bench.session.playback.play_take(take.id)
        bench.until(lambda: len(ends) > num_ends)

    play_once()
    play_once()
    expected = "The output device headset is not available. Playback continues on the system default."
    assert hints == [expected]
    outputs.others["headset"] = SoundCard()
    monkeypatch.setattr(outputs, "open", partial(CardOutputs.open, outputs))  # it is connected again
    play_once()
    monkeypatch.undo()
    monkeypatch.setattr(window.notices, "show_hint", lambda words, **_: hints.append(words))
    play_once()
    assert hints == [expected, expected]
    assert set(ends) == {PlaybackEnd.FINISHED}


def test_waiting_playback_starts_on_the_device_selected_last(
    make_bench: Callable[..., Any],
) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    player = bench.session.playback.player
    audio = StreamingAudio.of(SOUND[:2400], RATE)
    player._show(NowPlaying("line", "take", audio), player._new_player(audio))
    bench.until(lambda: default.num_opened)
    bench.settings[OUTPUT_DEVICE] = "headset"
    player._allow_start()
    bench.until(lambda: not player.is_playing)
    assert len(default.heard) == 0
    bench.until(lambda: not default.is_running)
    np.testing.assert_array_equal(headset.heard, SOUND[:2400])


def test_the_device_opens_before_the_first_chunk_of_a_line(make_bench: Callable[..., Any]) -> None:
    card = SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(card))
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "wait", "Edit")
    bench.trigger("speak.line")
    bench.until(lambda: card.is_running)
    assert not bench.session.playback.player.is_playing, "there is no audio yet"
    bench.session.playback.stop_and_cancel()
    bench.until(lambda: bench.session.queue.current is None)
    bench.until(lambda: not card.is_running)
    assert bench.session.playback.player.now_playing is None


def test_a_clip_plays_on_the_selected_device(make_bench: Callable[..., Any]) -> None:
    default, headset = SoundCard(), SoundCard()
    bench: Bench = make_bench(outputs=CardOutputs(default, headset=headset))
    player = bench.session.playback.make_player(bench.session)
    bench.settings[OUTPUT_DEVICE] = "headset"
    player.play_clip(Waveform(SOUND[:2400], RATE))
    bench.until(lambda: not player.is_playing)
    assert default.num_opened == 0
    np.testing.assert_array_equal(headset.heard, SOUND[:2400])


@pytest.mark.slow
def test_a_clip_on_a_fallback_device_is_not_a_failure(make_bench: Callable[..., Any]) -> None:
    bench: Bench = make_bench()
    errors: list[StudioError] = []
    for outputs, num_errors in ((DefaultOnlyOutputs(SoundCard()), 0), (NoOutputs(SoundCard()), 1)):
        player = AudioPlayer(outputs, bench.session, device=lambda: "headset")
        player.failed.connect(errors.append)
        player.play_clip(Waveform(SOUND[:2400], RATE))
        bench.until(lambda player=player: not player.is_playing)
        assert len(errors) == num_errors
