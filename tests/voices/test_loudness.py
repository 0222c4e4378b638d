"""Endpoint detection at different levels and noise floors."""

from __future__ import annotations

import numpy as np
import pytest
from test_clip_check import RATE, Samples, babble, silence

from studio.voices.loudness import EndpointDetector


def seconds_until_over(samples: Samples, *, block: int = 1000) -> float | None:
    """Return the seconds after which the detector reports the end of speech, or None."""
    detector = EndpointDetector(RATE)
    for start in range(0, len(samples), block):
        detector.add(samples[start : start + block])
        if detector.is_over:
            return (start + block) / RATE
    return None


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 1e-4, 3e-3])
@pytest.mark.parametrize("rms", [0.02, 0.2])
@pytest.mark.parametrize("block", [137, 1000, 4800])
def test_the_end_is_two_seconds_after_the_last_word(noise: float, rms: float, block: int) -> None:
    sound = np.concatenate([silence(1.5), babble(4.0, rms=rms), silence(5.0)])
    over = seconds_until_over((sound + silence(10.5, noise)).astype(np.float32), block=block)
    assert over == pytest.approx(7.5, abs=0.4)


def test_pauses_between_sentences_are_not_the_end() -> None:
    sound = np.concatenate([babble(2.0), silence(1.5), babble(2.0), silence(1.5), babble(2.0), silence(3.0)])
    assert seconds_until_over(sound) == pytest.approx(11.0, abs=0.3)


@pytest.mark.parametrize("sound", [silence(20.0), silence(20.0, 0.003), silence(20.0, 0.05), babble(20.0)])
def test_without_speech_or_silence_there_is_no_end(sound: Samples) -> None:
    assert seconds_until_over(sound) is None


def test_a_knock_is_not_speech() -> None:
    assert seconds_until_over(np.concatenate([silence(1.0), babble(0.3), silence(8.0)])) is None
