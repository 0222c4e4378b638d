"""Tests of the judges of the bundled voice: paragraphs, and the pitch of two readings."""

from __future__ import annotations

import numpy as np
import pytest

from training.corpus.texts import test_sentences as unseen_sentences
from training.corpus.utterance import SAMPLE_RATE
from training.judging.intonation import pitch_correlation
from training.judging.paragraphs import heard_order, paragraphs

SENTENCES = ["abcdef", "ghijkl", "mnopqr"]


@pytest.mark.parametrize(
    ("heard", "order"),
    [
        ("abcdefghijklmnopqr", (0, 1, 2)),
        ("abxdefghjklmnopqqr", (0, 1, 2)),
        ("abcdefmnopqr", (0, 2)),
        ("abcdefghijklghijklmnopqr", (0, 1, 1, 2)),
        ("ghijklabcdefmnopqr", (1, 0, 2)),
        ("", ()),
    ],
)
def test_lost_repeated_and_exchanged_sentences_are_heard(heard: str, order: tuple[int, ...]) -> None:
    assert heard_order(heard, SENTENCES) == order


@pytest.mark.parametrize("language", ["en", "zh"])
def test_paragraphs_have_four_to_six_different_sentences(language: str) -> None:
    sentences = unseen_sentences(language)[:24]
    made = paragraphs(sentences, language, 20)
    assert made == paragraphs(sentences, language, 20)
    assert {len(each.sentences) for each in made} == {4, 5, 6}
    assert all(len(set(each.sentences)) == len(each.sentences) for each in made)
    assert any("“" in each.text for each in made)
    assert any("—" in each.text for each in made)


def _gliding(from_hz: float, to_hz: float, seconds: float) -> np.ndarray:
    """Return a tone with harmonics, whose timbre changes in the middle."""
    times = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    hertz = from_hz * (to_hz / from_hz) ** (times / seconds)
    phase = 2 * np.pi * np.cumsum(hertz) / SAMPLE_RATE
    tilt = np.linspace(0.2, 2.0, len(times))
    return sum(np.sin(number * phase) / number**tilt for number in range(1, 20)).astype(np.float32) * np.float32(0.05)


def test_pitch_is_compared_at_corresponding_times() -> None:
    pytest.importorskip("parselmouth")
    rising, slower, falling = _gliding(120, 240, 0.8), _gliding(100, 200, 1.2), _gliding(240, 120, 0.8)
    assert pitch_correlation(rising, slower) > 0.9
    assert pitch_correlation(rising, falling) < -0.5
    assert np.isnan(pitch_correlation(np.zeros(SAMPLE_RATE, np.float32), rising))
