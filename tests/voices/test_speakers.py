"""Stretches of one speaker, from embeddings of parts of a recording."""

from __future__ import annotations

import numpy as np
import pytest

from studio.audio.waveform import Waveform
from studio.voices.best_segment import PromptWindow
from studio.voices.speakers import Speaker, group_speakers, speech_parts, stretches_of

ADA, MAX = (1.0, 0.0), (0.0, 1.0)


def test_parts_contain_speech() -> None:
    rate = 16_000
    noise = np.random.default_rng(0).standard_normal(10 * rate) * 0.1
    noise[4 * rate : 6 * rate] *= 1e-4
    parts = speech_parts(Waveform(noise.astype(np.float32), rate), [PromptWindow(0.0, 10.0)])
    assert parts[0][0] == 0.0
    assert parts[-1][1] > 9.0
    assert not any(start > 4.0 and end < 6.0 for start, end in parts)


def test_the_speaker_with_the_most_speech_is_first() -> None:
    parts = [(0.0, 1.6), (2.0, 3.6), (4.0, 5.6), (6.0, 6.3)]
    first, second = group_speakers(parts, [MAX, ADA, ADA, None])
    assert first.parts == ((2.0, 3.6), (4.0, 5.6))
    assert first.seconds == pytest.approx(3.2)
    assert second.parts == ((0.0, 1.6),)


def test_overlapping_parts_count_once() -> None:
    (only,) = group_speakers([(0.0, 1.6), (0.8, 2.4)], [ADA, ADA])
    assert only.seconds == 2.4


def test_no_embedding_is_no_speaker() -> None:
    assert group_speakers([(0.0, 0.4)], [None]) == []


def test_a_part_with_a_change_of_the_speaker_belongs_to_neither() -> None:
    ada = Speaker(((0.0, 1.6), (0.8, 2.4), (1.6, 3.2), (6.4, 8.0)), 4.8)
    other = Speaker(((2.4, 4.0), (3.2, 4.8)), 2.4)
    assert stretches_of(ada, [other]) == [PromptWindow(0.0, 2.4), PromptWindow(6.4, 8.0)]
    assert stretches_of(other, [ada]) == [PromptWindow(3.2, 4.8)]
