"""Selection and cutting of the best segment of a recording."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_clip_check import RATE, Samples, babble, clip, silence

from studio.audio.waveform import Waveform
from studio.voices.best_segment import PromptWindow, best_segment, best_segments, cut_prompt
from studio.voices.clip_check import check_prompt_clip


def test_a_short_clip_is_used_without_outer_silence() -> None:
    window = best_segment(clip(silence(2.0), babble(5.0), silence(3.0)))
    assert window.start_seconds == pytest.approx(1.9, abs=0.05)
    assert window.end_seconds == pytest.approx(7.2, abs=0.05)


def test_a_segment_starts_and_ends_in_pauses() -> None:
    phrases = [part for number in range(8) for part in (babble(2.5, seed=number), silence(0.5))]
    window = best_segment(clip(*phrases))
    assert 7.0 < window.seconds <= 10.0
    assert window.start_seconds == pytest.approx(3.0 * round(window.start_seconds / 3.0), abs=0.15)
    assert window.end_seconds % 3.0 == pytest.approx(2.7, abs=0.1), "the end of a phrase plus the tail"


def test_a_shorter_segment_can_be_wanted() -> None:
    phrases = [part for number in range(4) for part in (babble(1.5, seed=number), silence(0.5))]
    window = best_segment(clip(*phrases), 4.0)
    assert 3.0 < window.seconds <= 4.0
    assert best_segment(clip(silence(40.0)), 4.0).seconds == 4.0
    assert best_segment(clip(babble(9.0)), 4.0).seconds <= 4.0


def test_several_segments_do_not_overlap() -> None:
    phrases = [part for number in range(12) for part in (babble(2.5, seed=number), silence(0.5))]
    recording = clip(*phrases)
    found = best_segments(recording, 3)
    assert found[0] == best_segment(recording)
    assert len(found) == 3
    in_order = sorted(found, key=lambda each: each.start_seconds)
    assert all(one.end_seconds <= other.start_seconds for one, other in pairwise(in_order))
    assert best_segments(clip(silence(5.0)), 3) == []


def test_clipped_phrases_are_avoided() -> None:
    loud = np.clip(babble(6.0, rms=0.8), -1.0, 1.0)
    window = best_segment(clip(loud, silence(1.0), babble(6.0, rms=0.2), silence(1.0), loud))
    assert (window.start_seconds, window.end_seconds) == (pytest.approx(6.9, abs=0.1), pytest.approx(13.2, abs=0.1))


def test_dense_speech_is_preferred_to_scattered_words() -> None:
    scattered = [part for number in range(6) for part in (babble(0.4, seed=number), silence(1.2))]
    window = best_segment(clip(*scattered, babble(6.0), silence(1.0)))
    assert window.start_seconds > 9.0


def test_speech_without_pauses_is_cut_at_its_quietest_frame() -> None:
    window = best_segment(clip(babble(40.0)))
    assert 4.0 < window.seconds <= 10.0


def test_noise_is_not_speech() -> None:
    noisy = Waveform(np.concatenate([silence(4.0), babble(5.0), silence(4.0)]) + silence(13.0, 0.01), RATE)
    window = best_segment(noisy)
    assert window.start_seconds == pytest.approx(3.9, abs=0.1)
    assert window.end_seconds == pytest.approx(9.2, abs=0.1)


def test_a_silent_recording_has_a_segment() -> None:
    assert best_segment(clip(silence(4.0))) == PromptWindow(0.0, 4.0)
    assert best_segment(clip(silence(40.0))).seconds == 10.0


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(0.1, 9.0), st.floats(0.0, 2.0)), min_size=1, max_size=6), st.sampled_from([0, 1e-3])
)
def test_every_recording_has_a_segment_that_can_be_cut(parts: list[tuple[float, float]], noise: float) -> None:
    sound = np.concatenate([piece for speech, pause in parts for piece in (babble(speech), silence(pause))])
    recording = Waveform(sound + silence(len(sound) / RATE + 1, noise)[: len(sound)], RATE)
    window = best_segment(recording)
    assert 0.0 <= window.start_seconds < window.end_seconds <= recording.seconds + 1e-6
    assert window.seconds <= 10.0 + 1e-6
    assert 0.0 < cut_prompt(recording, window).seconds <= window.seconds + 0.21


def test_silence_is_trimmed_to_the_tail() -> None:
    kept = cut_prompt(clip(silence(2.0), babble(4.0), silence(2.0)), PromptWindow(0.0, 8.0))
    assert kept.seconds == pytest.approx(0.1 + 4.0 + 0.2, abs=0.05)
    assert np.abs(kept.samples[-int(0.15 * RATE) :]).max() < 1e-3


def test_a_cut_through_speech_gets_a_silent_tail() -> None:
    kept = cut_prompt(clip(babble(8.0)), PromptWindow(1.0, 5.0))
    assert kept.seconds == pytest.approx(4.2, abs=0.03)
    assert not kept.samples[-int(0.18 * RATE) :].any()
    assert kept.samples[0] == 0.0, "no click"
    check_prompt_clip(kept)


def test_a_cut_is_at_most_thirty_seconds() -> None:
    kept = cut_prompt(clip(babble(40.0)), PromptWindow(2.0, 32.0))
    assert kept.seconds == 30.0
    assert check_prompt_clip(kept).speech_seconds > 20.0


def test_the_recording_is_not_modified() -> None:
    samples: Samples = babble(5.0)
    before = samples.copy()
    cut_prompt(Waveform(samples, RATE), PromptWindow(0.0, 5.0))
    np.testing.assert_array_equal(samples, before)
    assert not cut_prompt(clip(silence(3.0)), PromptWindow(0.0, 2.0)).samples.any()
