"""Edits of a recording: trim, speed, volume and fades."""

import numpy as np
import pytest

from studio.audio.edits import AudioEdits
from studio.audio.time_stretch import TimeStretch

RATE = 24_000


def tone(seconds=1.0):
    return (0.5 * np.sin(2 * np.pi * 200 * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def test_without_edits_the_recording_itself_is_returned():
    samples = tone()
    assert AudioEdits().apply(samples, RATE) is samples


def test_trim_removes_exactly_the_given_ends():
    samples = tone()
    trimmed = AudioEdits(trim_start_seconds=0.1, trim_end_seconds=0.25).apply(samples, RATE)
    np.testing.assert_array_equal(trimmed, samples[2_400 : RATE - 6_000])


def test_trim_longer_than_the_recording_leaves_nothing():
    assert len(AudioEdits(trim_start_seconds=0.7, trim_end_seconds=0.7).apply(tone(), RATE)) == 0
    assert AudioEdits(trim_start_seconds=0.7, trim_end_seconds=0.7).seconds(1.0) == 0.0


def test_speed_is_that_of_the_time_stretch():
    samples = tone()
    stretch = TimeStretch(1.25, RATE)
    expected = np.concatenate([stretch.process(samples), stretch.finish()])
    edits = AudioEdits(speed=1.25)
    np.testing.assert_array_equal(edits.apply(samples, RATE), expected)
    assert len(expected) == pytest.approx(edits.seconds(1.0) * RATE, abs=1)


def test_volume_is_in_decibels_and_does_not_change_the_recording():
    samples = tone()
    before = samples.copy()
    louder = AudioEdits(gain_db=6.0).apply(samples, RATE)
    np.testing.assert_allclose(louder, before * 10 ** (6 / 20), rtol=1e-6)
    np.testing.assert_array_equal(samples, before)


def test_fades_rise_from_silence_and_fall_to_it():
    faded = AudioEdits(fade_in_seconds=0.1, fade_out_seconds=0.2).apply(np.ones(RATE, np.float32), RATE)
    assert faded[0] < 1e-6
    assert faded[-1] < 1e-6
    assert np.all(np.diff(faded[:2_400]) >= 0)
    assert np.all(np.diff(faded[-4_800:]) <= 0)
    assert np.all(faded[2_400:-4_800] == 1.0)


def test_a_fade_longer_than_the_audio_is_shortened():
    faded = AudioEdits(fade_in_seconds=5.0).apply(np.ones(100, np.float32), RATE)
    assert faded[0] < 1e-3 < faded[-1]
