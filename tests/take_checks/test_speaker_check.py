"""Limits of the similarity of a take and its prompt."""

from __future__ import annotations

import pytest

from studio.take_checks.records import ProblemKind, TakeMeasures
from studio.take_checks.speaker import Likeness
from studio.take_checks.speaker_check import speaker_problems

SECONDS = 3.0


def confidence(likeness: Likeness, earlier: tuple[TakeMeasures, ...] = ()) -> float:
    found = speaker_problems(likeness, SECONDS, earlier)
    assert {problem.kind for problem in found} <= {ProblemKind.OTHER_VOICE}
    return max((problem.confidence for problem in found), default=0.0)


@pytest.mark.parametrize("nearest", [0.7, 1.0])  # 1.0: no bundled voice to compare with
def test_a_take_that_is_less_similar_is_another_voice_if_it_is_also_near_to_others(nearest: float) -> None:
    assert confidence(Likeness(0.69, 0.93, nearest)) > 0.5
    assert confidence(Likeness(0.78, 0.93, nearest)) < 0.5


def test_a_take_that_is_less_similar_is_good_if_it_is_far_from_other_voices() -> None:
    assert confidence(Likeness(0.69, 0.93, 0.3)) < 0.5
    assert confidence(Likeness(0.5, 0.93, 0.1)) > 0.5


def test_a_voice_with_takes_is_compared_with_these() -> None:
    earlier = (TakeMeasures(pace=1.0, level_dbfs=-20.0, bandwidth_hz=8000.0, similarity=0.95),) * 8
    assert confidence(Likeness(0.75, 0.93, 0.3), earlier) > 0.5
