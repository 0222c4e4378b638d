"""When somebody has finished speaking, whatever their room and microphone."""

from __future__ import annotations

import numpy as np
import pytest
from test_clip_check import RATE, Samples, babble, silence

from studio.voices.endpoint_detector import EndpointDetector


def heard_until_over(samples: Samples, *, block: int = 1000) -> float | None:
    """After how many seconds the watch says it is over."""
    watch = EndpointDetector(RATE)
    for start in range(0, len(samples), block):
        watch.hear(samples[start : start + block])
        if watch.is_over:
            return (start + block) / RATE
    return None


@pytest.mark.parametrize("noise", [0.0, 1e-4, 3e-3])
@pytest.mark.parametrize("rms", [0.02, 0.2])
@pytest.mark.parametrize("block", [137, 1000, 4800])
def test_it_is_over_two_seconds_after_the_last_word(noise: float, rms: float, block: int) -> None:
    sound = np.concatenate([silence(1.5), babble(4.0, rms=rms), silence(5.0)])
    over = heard_until_over((sound + silence(10.5, noise)).astype(np.float32), block=block)
    assert over == pytest.approx(7.5, abs=0.4)


def test_pauses_between_sentences_do_not_end_it() -> None:
    sound = np.concatenate([babble(2.0), silence(1.5), babble(2.0), silence(1.5), babble(2.0), silence(3.0)])
    assert heard_until_over(sound) == pytest.approx(11.0, abs=0.3)


@pytest.mark.parametrize("sound", [silence(20.0), silence(20.0, 0.003), silence(20.0, 0.05), babble(20.0)])
def test_without_speech_or_without_silence_it_goes_on(sound: Samples) -> None:
    assert heard_until_over(sound) is None


def test_a_knock_is_no_speech() -> None:
    assert heard_until_over(np.concatenate([silence(1.0), babble(0.3), silence(8.0)])) is None


def test_how_long_it_has_been_silent() -> None:
    watch = EndpointDetector(RATE)
    assert watch.silent_for_seconds == 0.0
    watch.hear(np.concatenate([silence(1.0), babble(2.0), silence(1.0)]))
    assert watch.has_spoken
    assert watch.silent_for_seconds == pytest.approx(1.0, abs=0.1)
