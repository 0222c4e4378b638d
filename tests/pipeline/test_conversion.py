"""Long recordings are split at silence, without loss."""

import numpy as np
import pytest

from studio.audio.waveform import Waveform
from studio.pipeline.conversion import split_at_silence

RATE = 16_000


def speech_with_pauses(seconds: float, pauses: list[float]) -> Waveform:
    samples = np.random.default_rng(3).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)
    for pause in pauses:
        samples[int(pause * RATE) : int((pause + 0.4) * RATE)] = 0.0
    return Waveform(samples, RATE)


def test_a_short_recording_stays_whole() -> None:
    waveform = speech_with_pauses(29.0, [10.0])
    assert [piece.seconds for piece in split_at_silence(waveform)] == [29.0]


def test_cuts_fall_into_pauses_and_nothing_is_lost() -> None:
    waveform = speech_with_pauses(70.0, [22.0, 47.0])
    pieces = split_at_silence(waveform)
    assert np.array_equal(np.concatenate([piece.samples for piece in pieces]), waveform.samples)
    assert all(piece.seconds <= 29.5 for piece in pieces)
    assert pieces[0].seconds == pytest.approx(22.2, abs=0.2)
    assert pieces[0].seconds + pieces[1].seconds == pytest.approx(47.2, abs=0.2)
