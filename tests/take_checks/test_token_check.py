"""Limits and loops of speech tokens."""

from __future__ import annotations

import numpy as np

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.records import ProblemKind, TakeMeasures
from studio.take_checks.token_check import length_problems, measure_pace, token_problems


def evidence(tokens: list[int], **changes: object) -> SentenceEvidence:
    seconds = 0.04 * len(tokens)
    return SentenceEvidence("Hello there.", 0.0, seconds, tuple(tokens), token_seconds=0.04, **changes)  # type: ignore[arg-type]


def varied(count: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, 700, size=count).tolist()


def test_ordinary_tokens_and_long_silence_are_no_loop() -> None:
    assert token_problems([evidence(varied(120))]) == []
    assert token_problems([evidence(varied(40) + [7] * 60 + varied(40))]) == []


def test_a_loop_is_found_at_its_place() -> None:
    phrase = varied(9, seed=2)
    (problem,) = token_problems([evidence(varied(30) + phrase * 6 + varied(20, seed=3))])
    assert problem.kind is ProblemKind.LOOP
    assert abs(problem.from_seconds - 30 * 0.04) < 0.1
    assert abs(problem.to_seconds - 84 * 0.04) < 0.1


def test_many_second_draws_are_a_loop() -> None:
    assert token_problems([evidence(varied(100), num_second_draws=30)]) == []
    (problem,) = token_problems([evidence(varied(100), num_second_draws=75)])
    assert problem.kind is ProblemKind.LOOP


def test_a_sentence_that_reached_its_limit_is_reported() -> None:
    (problem,) = token_problems([evidence(varied(100), stopped_by_limit=True)])
    assert problem.kind is ProblemKind.ODD_LENGTH
    assert problem.confidence > 0.9


def test_pace_is_compared_only_with_enough_takes() -> None:
    usual = [TakeMeasures(pace, -20.0, 7000.0) for pace in np.linspace(0.9, 1.1, 9)]
    assert length_problems(2.5, 3.0, usual[:7]) == []
    assert length_problems(1.2, 3.0, usual) == []
    assert [problem.kind for problem in length_problems(2.5, 3.0, usual)] == [ProblemKind.ODD_LENGTH]
    assert [problem.kind for problem in length_problems(0.4, 3.0, usual)] == [ProblemKind.ODD_LENGTH]


def test_speed_does_not_change_the_pace() -> None:
    texts = ["The harbour was quiet that morning."]
    assert measure_pace(texts, 2.0, 1.0) == measure_pace(texts, 1.0, 2.0)
    assert measure_pace(["..."], 2.0, 1.0) == 0.0
