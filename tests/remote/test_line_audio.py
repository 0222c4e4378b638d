"""Repeated requests give only samples that have not been received."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from studio.pipeline.request import AudioChunk
from studio.remote.line_audio import LineAudio, SpeechDiffers

RATE = 24_000
SPEECH = np.random.default_rng(3).standard_normal(1_000).astype(np.float32)


def chunk(start: int, end: int) -> AudioChunk:
    return AudioChunk(SPEECH[start:end], RATE)


def test_only_new_samples_pass_however_the_chunks_are_cut() -> None:
    audio, passed = LineAudio(), []
    for cuts in ((0, 100, 250), (0, 30, 250, 260), (0, 400, 1_000)):
        audio.restart()
        for start, end in pairwise(cuts):
            if (new := audio.unheard(chunk(start, end))) is not None:
                passed.append(new.samples)
    assert np.array_equal(np.concatenate(passed), SPEECH)


def test_different_speech_is_found_even_in_the_last_bit() -> None:
    audio = LineAudio()
    audio.unheard(chunk(0, 100))
    audio.restart()
    other = SPEECH[:200].copy()
    other[99] = np.nextafter(other[99], np.float32(2))
    with pytest.raises(SpeechDiffers):
        audio.unheard(AudioChunk(other, RATE))
