"""Joins of recordings: exact lengths, no clicks, level of the rest, and places in pauses."""

from __future__ import annotations

import numpy as np
import pytest

from studio.audio.joining import (
    CROSSFADE_SECONDS,
    cross_over,
    joined,
    match_level,
    quiet_place,
    share_at_time,
    switched,
    time_at_share,
)
from studio.audio.resampling import Samples

RATE = 24_000
FADE = round(CROSSFADE_SECONDS * RATE)


def tone(seconds: float, *, level: float = 0.2, phase: float = 0.0, hertz: float = 200.0) -> Samples:
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * hertz * times + phase)).astype(np.float32)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), np.float32)


@pytest.fixture
def speech() -> Samples:
    """Two words of one second, with pauses before, between and after them."""
    return np.concatenate([silence(0.5), tone(1.0), silence(1.0), tone(1.0), silence(0.5)])


def test_pauses_do_not_count_as_speech(speech: Samples) -> None:
    assert time_at_share(speech, RATE, 0.25) == pytest.approx(1.0, abs=0.02)
    assert time_at_share(speech, RATE, 0.75) == pytest.approx(3.0, abs=0.02)
    assert (time_at_share(speech, RATE, 0.0), time_at_share(speech, RATE, 1.0)) == (0.0, 4.0)
    assert share_at_time(speech, RATE, 2.0) == pytest.approx(0.5, abs=0.01)
    assert share_at_time(speech, RATE, 3.0) == pytest.approx(0.75, abs=0.01)


def test_a_quiet_place_is_in_the_pause_next_to_the_wanted_time(speech: Samples) -> None:
    place = quiet_place(speech, RATE, 1.45)
    assert 1.5 < place < 1.62
    samples = round(place * RATE)
    assert np.abs(speech[samples - 60 : samples + 60]).max() == 0.0


@pytest.mark.parametrize("shift", [0.0, 0.001, -0.0017, 0.0024])
def test_readings_of_the_same_speech_are_joined_in_phase(shift: float) -> None:
    """The second reading, whose voice is shifted by less than a period, continues the first one as its own sound would."""
    first, second = tone(2.0), tone(2.0, phase=-2 * np.pi * 200.0 * shift)
    made, moved = switched(first, second, RATE, first_span=(1.0, 1.1), second_span=(0.5, 0.6))
    start = round(0.99 * RATE)
    np.testing.assert_array_equal(made[:start], first[:start])
    np.testing.assert_array_equal(made[-RATE:], second[-RATE:])
    np.testing.assert_allclose(made, tone(len(made) / RATE), atol=0.01)
    assert len(made) / RATE == pytest.approx(2.0 + moved, abs=1 / RATE)
    assert moved == pytest.approx(0.5, abs=0.013)


def test_equal_samples_are_joined_without_a_trace() -> None:
    noise = (0.1 * np.random.default_rng(0).standard_normal(2 * RATE)).astype(np.float32)
    other = np.concatenate([noise[:RATE], -noise[RATE:]])
    made, moved = switched(noise, other, RATE, first_span=(0.5, 0.6), second_span=(0.5, 0.6))
    assert moved == 0.0
    np.testing.assert_allclose(made, other, atol=1e-7)


@pytest.mark.parametrize("phase", [0.0, 1.0, np.pi, 4.5])
def test_joins_do_not_click(phase: float) -> None:
    """Even in loud tones of opposite phase, no step at a join is larger than the tone's own and that of the fade."""
    before, part, after = tone(1.0), tone(0.5, phase=phase), tone(1.0, phase=2 * phase)
    made = joined((before, part, after), FADE)
    own_step = 0.2 * 2 * np.pi * 200.0 / RATE
    fade_step = 2 * 0.2 * np.pi / 2 / FADE
    assert np.abs(np.diff(made)).max() <= own_step + fade_step
    assert len(made) == len(before) + len(part) + len(after) - 2 * FADE


def test_short_pieces_overlap_by_their_own_length() -> None:
    assert len(joined((tone(1.0), tone(0.001), tone(1.0)), FADE)) == 2 * RATE - FADE
    assert len(joined((silence(0.0), tone(1.0), silence(0.0)), FADE)) == RATE


def test_a_part_gets_the_level_of_the_rest(speech: Samples) -> None:
    quiet = tone(0.7, level=0.07)
    matched = match_level(quiet, speech, tone(0.5, level=0.01), sample_rate=RATE)
    assert np.abs(matched).max() == pytest.approx(0.2, rel=0.02)
    replaced = match_level(quiet, silence(1.0), tone(0.5, level=0.1), sample_rate=RATE)
    assert np.abs(replaced).max() == pytest.approx(0.1, rel=0.02)
    np.testing.assert_array_equal(match_level(quiet, silence(1.0), silence(1.0), sample_rate=RATE), quiet)


def test_a_part_never_clips() -> None:
    peaky = tone(0.7, level=0.01)
    peaky[1000] = 0.9
    assert np.abs(match_level(peaky, tone(1.0, level=0.9), silence(0.1), sample_rate=RATE)).max() <= 0.991


def test_two_recordings_are_crossfaded_in_the_middle() -> None:
    first, second = np.full(RATE, 0.5, np.float32), np.full(RATE, 0.5, np.float32)
    whole = cross_over(first, second, RATE, end_seconds=0.6, start_seconds=0.4, fade_seconds=0.2)
    assert len(whole) == round(1.2 * RATE)
    np.testing.assert_allclose(whole, 0.5, atol=1e-6)
    early = cross_over(first, second, RATE, end_seconds=0.6, start_seconds=0.0, fade_seconds=0.2)
    assert len(early) == round(1.6 * RATE)
