"""Switching between tracks without gaps or clicks at the same position."""

from __future__ import annotations

import numpy as np
import pytest

from studio.app.playback.ab_source import ABSource, ABTrack
from studio.audio.resampling import Samples

RATE = 8_000
FADE = round(0.02 * RATE)


def tone(seconds: float, *, level: float = 0.5, silence_seconds: float = 0.0) -> Samples:
    times = np.arange(round(seconds * RATE)) / RATE
    sound = level * np.sin(2 * np.pi * 200 * times)
    return np.concatenate([np.zeros(round(silence_seconds * RATE)), sound]).astype(np.float32)


def heard(sound: ABSource, num_samples: int, block_samples: int = 64) -> Samples:
    blocks = []
    for _ in range(num_samples // block_samples):
        block = np.full(block_samples, np.nan, np.float32)
        sound.fill(block, False)
        blocks.append(block)
    return np.concatenate(blocks)


def loaded(*samples: Samples) -> ABSource:
    sound = ABSource()
    sound.load(tuple(ABTrack.of(each) for each in samples), RATE)
    return sound


def levels(samples: Samples, part_samples: int = 160) -> Samples:
    parts = samples[: len(samples) // part_samples * part_samples].reshape(-1, part_samples)
    return np.sqrt((parts**2).mean(axis=1))


def test_the_samples_of_a_track_follow_a_short_fade() -> None:
    reading = tone(1.0)
    sound = loaded(reading, tone(1.0))
    assert not heard(sound, 640).any(), "nothing before play"
    sound.is_playing = True
    output = heard(sound, 6400)
    np.testing.assert_array_equal(output[FADE:], reading[FADE : len(output)])
    assert abs(output[0]) < 0.01


@pytest.mark.parametrize("block_samples", [32, 64, 480])
def test_switching_leaves_no_gap(block_samples: int) -> None:
    """The tracks are uncorrelated noise of equal loudness."""
    draw = np.random.default_rng(1)
    first, second = (draw.standard_normal(RATE).astype(np.float32) * 0.2 for _ in range(2))
    sound = loaded(first, second)
    sound.is_playing = True
    before = heard(sound, 2880, block_samples)
    sound.switch(1)
    after = heard(sound, 2880, block_samples)
    loudness = levels(np.concatenate([before, after])[FADE:])
    assert loudness.min() > 0.15
    assert loudness.max() < 0.26
    np.testing.assert_array_equal(after[FADE:], second[2880 + FADE : 5760])


def test_the_matching_position_is_the_same_share_of_the_speech() -> None:
    """The second track is half as fast and starts half a second later, and their middles match."""
    first, second = ABTrack.of(tone(1.0)), ABTrack.of(tone(2.0, silence_seconds=0.5))
    middle = second.matching_position(first, RATE // 2)
    assert middle == pytest.approx(0.5 * RATE + RATE, abs=0.01 * RATE)
    assert first.matching_position(second, middle) == pytest.approx(RATE // 2, abs=0.01 * RATE)
    assert first.matching_position(second, 0) == 0
    assert first.matching_position(second, second.last + 40) == first.last + 40


def test_pause_fades_out_and_play_resumes() -> None:
    sound = loaded(tone(1.0), tone(1.0))
    sound.is_playing = True
    heard(sound, 1600)
    sound.pause()
    output = heard(sound, 1600)
    assert output[:16].any()
    assert not output[FADE + 64 :].any()
    assert sound.is_silent
    share = sound.progress
    assert 0.15 < share < 0.3
    sound.is_playing = True
    heard(sound, 640)
    assert share < sound.progress < 0.35


def test_a_track_repeats_after_half_a_second() -> None:
    reading = tone(0.5)
    sound = loaded(reading, tone(0.5))
    sound.is_playing = True
    output = heard(sound, 12_800)
    assert not output[4100:7900].any()
    np.testing.assert_array_equal(output[8000:12_000], reading)


def test_play_in_turn_plays_each_track_once() -> None:
    first, second = tone(0.25, level=0.2), tone(0.25, level=0.6)
    sound = loaded(first, second)
    sound.play_in_turn()
    assert sound.is_in_turn
    output = heard(sound, 16_000)
    np.testing.assert_array_equal(output[FADE:2000], first[FADE:])
    np.testing.assert_array_equal(output[6000:8000], second)
    assert not output[8000:].any()
    assert sound.is_silent
    assert not sound.is_in_turn


def test_a_silent_track_is_supported() -> None:
    sound = loaded(np.zeros(RATE, np.float32), tone(1.0))
    sound.is_playing = True
    assert not heard(sound, 800).any()
    sound.switch(1)
    assert sound.index == 1
    assert heard(sound, 800).any()
