"""Pauses are found and shortened; all other samples stay exactly as they were."""

from __future__ import annotations

import numpy as np
import pytest

from studio.audio.silence import Pauses, SilenceLimits, Span, find_pauses

RATE = 24_000
FADE = 240  # half a crossfade


def tone(seconds: float, level: float = 0.3, hertz: float = 220.0) -> np.ndarray:
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def quiet(seconds: float, level: float = 1e-4, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, level, round(seconds * RATE)).astype(np.float32)


def spoken() -> np.ndarray:
    """0.5 s of silence, a word, 0.8 s of silence, a word, 0.2 s of silence, a word, 0.4 s of silence."""
    return np.concatenate([quiet(0.5), tone(1.0), quiet(0.8), tone(1.0), quiet(0.2), tone(1.0), quiet(0.4)])


def seconds_of(pauses: Pauses) -> list[tuple[float, float]]:
    return [(span.start / RATE, span.end / RATE) for span in pauses.spans]


def test_pauses_are_found_in_the_sound() -> None:
    found = seconds_of(find_pauses(spoken(), RATE))
    expected = [(0.0, 0.5), (1.5, 2.3), (3.3, 3.5), (4.5, 4.9)]
    assert found == [pytest.approx(span, abs=0.011) for span in expected]


def test_cut_pauses_have_the_kept_length_and_other_samples_are_unchanged() -> None:
    samples = spoken()
    limits = SilenceLimits(pause_seconds=0.3, ends_seconds=0.1)
    pauses = find_pauses(samples, RATE)
    cuts = pauses.cuts(samples, limits)
    cut = cuts.apply(samples)
    saved = 0.4 + 0.5 + 0.3
    assert pauses.saved_seconds(limits) == pytest.approx(saved, abs=0.03)
    assert len(samples) - len(cut) == round(pauses.saved_seconds(limits) * RATE), "the preview is exact"
    assert len(cuts.spans) == 3, "the pause of 0.2 s is not cut"
    assert seconds_of(find_pauses(cut, RATE))[1] == pytest.approx((1.1, 1.4), abs=0.011)
    first, middle, last = cuts.spans
    before = samples[first.end + FADE : middle.start - FADE]
    after = samples[middle.end + FADE : last.start - FADE]
    np.testing.assert_array_equal(cut[FADE : FADE + len(before)], before)
    start = middle.start - first.end + FADE
    np.testing.assert_array_equal(cut[start : start + len(after)], after)
    assert cut[0] == cut[-1] == 0.0, "the ends are faded"


def test_recordings_without_long_pauses_are_unchanged() -> None:
    samples = np.concatenate([tone(1.0), quiet(0.25), tone(1.0)])
    pauses = find_pauses(samples, RATE)
    cuts = pauses.cuts(samples, SilenceLimits())
    assert pauses.saved_seconds(SilenceLimits()) == 0.0
    np.testing.assert_array_equal(cuts.apply(samples), samples)


def test_silence_and_empty_recordings_have_no_pauses() -> None:
    for samples in (np.zeros(RATE, np.float32), np.zeros(0, np.float32)):
        assert find_pauses(samples, RATE).spans == ()
        np.testing.assert_array_equal(find_pauses(samples, RATE).cuts(samples, SilenceLimits()).apply(samples), samples)


def test_a_cut_avoids_a_click_in_the_pause() -> None:
    samples = np.concatenate([tone(1.0), quiet(1.0), tone(1.0)])
    middle = RATE + round(0.15 * RATE)  # where the cut would begin
    samples[middle - 24 : middle + 24] += 0.003  # quieter than speech
    (cut,) = find_pauses(samples, RATE).cuts(samples, SilenceLimits()).spans
    assert abs(cut.start - middle) > FADE
    assert cut.num_samples == pytest.approx(0.7 * RATE, abs=0.011 * RATE)


def test_word_times_protect_a_silence_within_a_word() -> None:
    samples = np.concatenate([tone(0.5), quiet(0.6), tone(0.5), quiet(0.6), tone(0.5)])
    words = [(0.0, 1.6), (2.2, 2.7)]
    assert seconds_of(find_pauses(samples, RATE, words)) == [pytest.approx((1.6, 2.2), abs=0.011)]


def test_word_times_that_touch_do_not_hide_the_pause_between_the_words() -> None:
    samples = np.concatenate([tone(0.5), quiet(0.6), tone(0.5)])
    assert len(find_pauses(samples, RATE, [(0.0, 1.05), (1.05, 1.6)]).spans) == 1
    assert len(find_pauses(samples, RATE, [(0.0, 0.5), (0.5, 1.6)]).spans) == 1


def test_a_breath_between_words_belongs_to_the_pause() -> None:
    breath = quiet(0.3, level=0.006)
    samples = np.concatenate([tone(1.0), quiet(0.2), breath, quiet(0.2), tone(1.0)])
    assert len(find_pauses(samples, RATE).spans) == 2, "the sound alone does not tell a breath from speech"
    assert seconds_of(find_pauses(samples, RATE, [(0.0, 1.0), (1.7, 2.7)])) == [pytest.approx((1.0, 1.7), abs=0.011)]


def test_times_move_with_the_cuts() -> None:
    samples = spoken()
    cuts = find_pauses(samples, RATE).cuts(samples, SilenceLimits())
    assert cuts.time_after(0.5) == pytest.approx(0.1, abs=0.011), "start of the first word"
    assert cuts.time_after(1.5) == pytest.approx(1.1, abs=0.011), "its end"
    assert cuts.time_after(2.3) == pytest.approx(1.4, abs=0.02), "start of the second word"
    assert cuts.time_after(len(samples) / RATE) == pytest.approx(len(cuts.apply(samples)) / RATE)
    inside = cuts.spans[1]
    assert cuts.time_after((inside.start + 100) / RATE) == pytest.approx(cuts.time_after(inside.start / RATE))


def test_pauses_of_any_rate_and_length_keep_their_limit() -> None:
    draw = np.random.default_rng(5)
    for rate in (16_000, 22_050, 44_100):
        for _ in range(20):
            pause = round(draw.uniform(0.06, 2.0) * rate)
            samples = np.concatenate([np.full(rate, 0.3), np.zeros(pause), np.full(rate, 0.3)]).astype(np.float32)
            limits = SilenceLimits(float(draw.uniform(0.05, 1.0)))
            cut = Pauses((Span(rate, rate + pause),), len(samples), rate).cuts(samples, limits).apply(samples)
            least_cut = round(0.02 * rate)
            kept = round(limits.pause_seconds * rate)
            assert len(cut) == 2 * rate + (kept if pause - kept >= least_cut else pause)
            assert (cut[:rate] == np.float32(0.3)).all()
            assert (cut[-rate:] == np.float32(0.3)).all()
