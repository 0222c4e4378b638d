"""The player continues on another device, and reports the end of playback once."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from event_loop_monitor import preempted_seconds
from sound_card import CardOutputs, DefaultOnlyOutputs, NoOutputs, SoundCard
from waiting import wait_until

from studio.audio.output_device import FillCallback, OutputStream
from studio.audio.player import PlaybackEnd, Player, StreamingAudio
from studio.errors import NoAudioDevice, StudioError

RATE = 24_000
SOUND = np.linspace(0.1, 0.9, RATE, dtype=np.float32)  # every sample is different, so the output shows the position


class Listener:
    def __init__(self) -> None:
        self.lost: list[StudioError] = []
        self.end: PlaybackEnd | None = None
        self.over = threading.Event()

    def on_device_lost(self, player: Player, error: StudioError) -> None:
        self.lost.append(error)

    def on_end(self, player: Player, end: PlaybackEnd) -> None:
        self.end = end
        self.over.set()


def play(sound: StreamingAudio, outputs: Any, **options: Any) -> tuple[Player, Listener]:
    listener = Listener()
    player = Player(sound, outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end, **options)
    player.allow_start()
    return player, listener


@pytest.mark.slow
def test_playback_continues_at_the_same_position_on_another_device() -> None:
    headset, default = SoundCard(vanishes_after=0.3), SoundCard()
    outputs = CardOutputs(default, headset=headset)
    player, listener = play(StreamingAudio.of(SOUND, RATE), outputs, device="headset")
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.FINISHED
    assert "disconnected" in str(listener.lost[0].message)
    assert outputs.num_rescans == 1
    heard = np.concatenate([headset.heard, default.heard])
    assert 0 < len(headset.heard) < len(SOUND)
    np.testing.assert_array_equal(heard, SOUND)
    assert player.position_seconds == 1.0


@pytest.mark.slow
def test_a_disconnected_device_is_replaced_at_once() -> None:
    default = SoundCard()
    _, listener = play(StreamingAudio.of(SOUND[:2400], RATE), DefaultOnlyOutputs(default), device="old headset")
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.FINISHED
    assert len(listener.lost) == 1
    np.testing.assert_array_equal(default.heard, SOUND[:2400])


def test_without_a_device_playback_ends_with_an_error() -> None:
    _, listener = play(StreamingAudio.of(SOUND, RATE), NoOutputs(SoundCard()))
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.NO_DEVICE
    assert listener.lost


@pytest.mark.slow
def test_a_device_that_keeps_underrunning_is_given_up() -> None:
    card = SoundCard(runs_dry_below=float("inf"))
    _, listener = play(StreamingAudio.of(np.tile(SOUND, 30), RATE), CardOutputs(card))
    assert listener.over.wait(30)
    assert listener.end is PlaybackEnd.NO_DEVICE
    assert "keeps stuttering" in str(listener.lost[-1].problem)
    assert card.num_opened <= 4 + 4


def test_stop_does_not_block() -> None:
    card = SoundCard()
    player, listener = play(StreamingAudio.of(np.tile(SOUND, 5), RATE), CardOutputs(card))
    time.sleep(0.3)
    began, preempted = time.perf_counter(), preempted_seconds()
    player.stop()
    assert time.perf_counter() - began - (preempted_seconds() - preempted) < 0.2
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.STOPPED
    assert len(card.heard) < RATE


@pytest.mark.slow
def test_growing_audio_is_played() -> None:
    card, sound = SoundCard(), StreamingAudio(RATE)
    _, listener = play(sound, CardOutputs(card))
    for piece in np.array_split(SOUND, 10):
        sound.append(piece)
        time.sleep(0.02)
    sound.complete()
    assert listener.over.wait(60)
    np.testing.assert_array_equal(card.heard, SOUND)


@pytest.mark.slow
def test_playback_starts_at_a_given_sample() -> None:
    card = SoundCard()
    _, listener = play(StreamingAudio.of(SOUND, RATE), CardOutputs(card), start_sample=RATE // 2)
    assert listener.over.wait(60)
    np.testing.assert_array_equal(card.heard, SOUND[RATE // 2 :])


def test_the_device_opens_before_the_first_audio() -> None:
    card, sound, listener = SoundCard(), StreamingAudio(RATE), Listener()
    player = Player(sound, CardOutputs(card), on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.is_running)
    assert not player.has_started
    sound.append(SOUND[:2400])
    sound.complete()
    player.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost, card.num_opened) == (PlaybackEnd.FINISHED, [], 1)
    np.testing.assert_array_equal(card.heard, SOUND[:2400])


def test_stop_closes_a_device_opened_ahead() -> None:
    card, listener = SoundCard(), Listener()
    outputs = CardOutputs(card)
    player = Player(StreamingAudio(RATE), outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.is_running)
    player.stop()
    assert listener.over.wait(60)
    assert listener.end is PlaybackEnd.STOPPED
    wait_until(lambda: not card.is_running)


@pytest.mark.slow
@pytest.mark.parametrize("failure", [NoAudioDevice("It is busy."), ZeroDivisionError("broken driver")])
def test_a_device_that_opens_only_at_the_start_is_not_a_failure(failure: Exception) -> None:
    class OpensLater(CardOutputs):
        num_tries = 0

        def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
            self.num_tries += 1
            if self.num_tries == 1:
                raise failure
            return super().open(device, sample_rate, fill, buffer_seconds)

    card, listener = SoundCard(), Listener()
    outputs = OpensLater(card)
    sound = StreamingAudio.of(SOUND[:2400], RATE)
    player = Player(sound, outputs, on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: outputs.num_tries)
    player.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost) == (PlaybackEnd.FINISHED, [])
    np.testing.assert_array_equal(card.heard, SOUND[:2400])


def test_a_device_lost_before_the_start_is_reopened() -> None:
    card, listener = SoundCard(vanishes_after=0.0), Listener()
    sound = StreamingAudio.of(SOUND[:2400], RATE)
    player = Player(sound, CardOutputs(card), on_device_lost=listener.on_device_lost, on_end=listener.on_end)
    wait_until(lambda: card.num_opened and not card.is_running)
    card.stay()
    player.allow_start()
    assert listener.over.wait(60)
    assert (listener.end, listener.lost) == (PlaybackEnd.FINISHED, [])
    np.testing.assert_array_equal(card.heard, SOUND[:2400])
