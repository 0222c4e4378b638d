"""Paths through the phones of a text, with probabilities as a well-trained network gives them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from studio.take_checks.recognizers.phone_paths import search, search_long
from studio.take_checks.recognizers.segments import SILENCE, SPEECH, PathSegment, regions, words_in_order

WORDS = [[1, 2, 3], [4, 5], [6, 7, 8, 9], [10, 11]]
FRAMES_OF_PHONE = 3


def sounding(phones: Sequence[int], seed: int = 0) -> np.ndarray:
    """Return logarithmic probabilities (frames, 41) of ``phones``, three frames each."""
    random = np.random.default_rng(seed)
    scores = random.normal(-6.0, 1.0, (FRAMES_OF_PHONE * len(phones), 41))
    scores[np.arange(len(scores)), np.repeat(phones, FRAMES_OF_PHONE)] = -0.2
    return scores.astype(np.float32)


def said(*words: int) -> list[int]:
    return [0, *(phone for word in words for phone in WORDS[word]), 0]


def names(segments: Sequence[PathSegment]) -> list[int]:
    return [each.index for each in segments]


def test_a_text_is_aligned_with_its_words() -> None:
    paths = search(sounding(said(0, 1, 2, 3)), WORDS)
    assert names(paths.strict) == [SILENCE, 0, 1, 2, 3, SILENCE]
    assert paths.strict == paths.free
    assert [(each.start, each.end) for each in paths.free[1:-1]] == [(3, 12), (12, 18), (18, 30), (30, 36)]


@pytest.mark.parametrize(
    ("phones", "heard"),
    [
        (said(0, 2, 3), [0, 2, 3]),
        (said(0, 1, 2, 1, 2, 3), [0, 1, 2, 1, 2, 3]),
        (said(0, 1, 1, 2, 3), [0, 1, 1, 2, 3]),
        ([*said(0)[:-1], 20, 21, 22, *said(2, 3)[1:]], [0, SPEECH, 2, 3]),
        ([*said(0, 1, 2, 3), 30, 31, 32, 33, 30], [0, 1, 2, 3, SPEECH]),
        ([20, 21, 22, *said(0, 1, 2, 3)], [SPEECH, 0, 1, 2, 3]),
        (said(0, 1, 2, 3)[2:], [SPEECH, 1, 2, 3]),
        (said(0, 1, 2, 3)[:-2], [0, 1, 2, SPEECH]),
        (said(1, 2, 3), [1, 2, 3]),
        (said(0, 1), [0, 1]),
    ],
)
def test_the_free_path_shows_what_was_said(phones: list[int], heard: list[int]) -> None:
    paths = search(sounding(phones), WORDS)
    assert words_in_order(paths.free) == heard
    assert words_in_order(paths.strict) == [0, 1, 2, 3]
    different = [
        (usual, free)
        for usual, free in regions(paths.strict, paths.free, 0.02)
        if words_in_order(usual) != words_in_order(free)
    ]
    assert len(different) == 1
    usual, free = different[0]
    assert sum(each.score for each in free) - sum(each.score for each in usual) > 3.0


def test_scores_and_frames_of_a_path_are_complete() -> None:
    scores = sounding([*said(0, 2), 20, 21, 22])
    for path in (search(scores, WORDS).strict, search(scores, WORDS).free):
        assert path[0].start == 0
        assert path[-1].end == len(scores)
        assert all(first.end == second.start for first, second in pairwise(path))


def test_a_long_recording_is_searched_in_parts() -> None:
    words = [[number % 37 + 1, number % 31 + 3, number % 29 + 5] for number in range(900)]
    phones = [phone for number, word in enumerate(words) if number != 500 for phone in word]
    paths = search_long(sounding(phones), words)
    assert words_in_order(paths.strict) == list(range(900))
    assert words_in_order(paths.free) == [number for number in range(900) if number != 500]
    assert paths.free[-1].end == 3 * 3 * 899
    assert all(first.end == second.start for first, second in pairwise(paths.free))


def test_a_long_recording_of_something_else_is_searched_too() -> None:
    paths = search_long(sounding([30, 31, 32, 33] * 300), WORDS * 3)
    assert words_in_order(paths.strict) == list(range(12))
    assert SPEECH in words_in_order(paths.free)
