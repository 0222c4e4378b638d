"""Automatic retries: seeds, the best take, and how many wrong lines remain."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from studio.take_checks.policy import (
    CheckMode,
    CheckPolicy,
    ProjectCheckPolicy,
    find_best,
    quality_key,
    retry_seed,
    speak_until_good,
)
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import Strictness

GOOD = TakeCheck(Verdict.GOOD)
NOT_CHECKED = TakeCheck(Verdict.NOT_CHECKED, error_code="recognizer-died")


def flawed(kind: ProblemKind, verdict: Verdict = Verdict.BAD, confidence: float = 0.9) -> TakeCheck:
    return TakeCheck(verdict, (Problem(kind, 0.0, 0.5, confidence=confidence),))


MISSING, CLIPPED = flawed(ProblemKind.MISSING_WORDS), flawed(ProblemKind.CLIPPING)
DOUBTFUL = flawed(ProblemKind.MISSING_WORDS, Verdict.DOUBTFUL)


def test_seeds_of_retries_follow_from_the_seed_of_the_line() -> None:
    assert retry_seed(7, 0) == 7
    seeds = [retry_seed(7, attempt) for attempt in range(10)]
    assert seeds == [retry_seed(7, attempt) for attempt in range(10)]
    assert len(set(seeds)) == 10
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert set(seeds[1:]).isdisjoint(retry_seed(8, attempt) for attempt in range(10))


def test_better_takes_come_first() -> None:
    checks = [NOT_CHECKED, None, MISSING, CLIPPED, DOUBTFUL, GOOD]
    assert sorted(checks, key=quality_key) == [GOOD, DOUBTFUL, CLIPPED, MISSING, NOT_CHECKED, None]
    assert find_best([MISSING, GOOD, GOOD]) == 1, "the first one of equals"


def test_takes_with_the_same_verdict_are_compared_by_words_and_voice() -> None:
    worse = replace(GOOD, word_error_rate=0.1, similarity=0.9)
    better = replace(GOOD, word_error_rate=0.0, similarity=0.7)
    closer = replace(GOOD, word_error_rate=0.0, similarity=0.8)
    assert find_best([worse, better, closer]) == 2


def test_only_takes_that_need_review_are_spoken_again() -> None:
    policy = CheckPolicy()
    assert policy.wants_retry(MISSING, 0)
    assert policy.wants_retry(DOUBTFUL, 1)
    assert not policy.wants_retry(MISSING, 2)
    assert not policy.wants_retry(GOOD, 0)
    assert not policy.wants_retry(NOT_CHECKED, 0)
    assert not policy.wants_retry(replace(MISSING, is_accepted=True), 0)
    assert not replace(policy, mode=CheckMode.MARK).wants_retry(MISSING, 0)


def test_the_choices_of_a_project_take_precedence() -> None:
    settings = CheckPolicy(CheckMode.RETRY, 2, Strictness.NORMAL, "auto")
    assert ProjectCheckPolicy().over(settings) == settings
    own = ProjectCheckPolicy(mode=CheckMode.MARK, recognizer="off")
    assert own.over(settings) == CheckPolicy(CheckMode.MARK, 2, Strictness.NORMAL, "off")


def test_two_runs_make_the_same_takes() -> None:
    async def speak(seed: int) -> int:
        return seed

    async def check(take: int) -> TakeCheck:
        return MISSING

    first, second = (asyncio.run(speak_until_good(5, CheckPolicy(), speak, check)) for _ in range(2))
    assert first == second
    assert first.seeds == (5, retry_seed(5, 1), retry_seed(5, 2))
    assert first.best == 0


@pytest.mark.slow
def test_at_most_one_of_200_lines_is_wrong_if_one_take_in_ten_is() -> None:
    """Each take is wrong with a probability of one in ten; the check finds 95 % of them, and doubts 5 % of good takes."""
    chance = random.Random(14)

    async def speak(_seed: int) -> bool:
        return chance.random() < 0.1

    async def check(is_wrong: bool) -> TakeCheck:
        is_marked = chance.random() < (0.95 if is_wrong else 0.05)
        return DOUBTFUL if is_marked else GOOD

    wrong = []
    for run in range(20):
        attempts = [asyncio.run(speak_until_good(line, CheckPolicy(), speak, check)) for line in range(200)]
        wrong.append(sum(attempt.best_spoken and not attempt.best_check.needs_review for attempt in attempts))
        assert sum(attempt.num_retries for attempt in attempts) < 60, run
    assert sum(wrong) / len(wrong) < 2


def test_lines_whose_first_take_is_spoilt_end_well_with_a_reliable_check() -> None:
    spoilt = set(range(0, 200, 10))

    async def line(number: int) -> bool:
        async def speak(seed: int) -> bool:
            return number in spoilt and seed == number

        async def check(is_wrong: bool) -> TakeCheck:
            return MISSING if is_wrong else GOOD

        attempts = await speak_until_good(number, CheckPolicy(), speak, check)
        assert attempts.num_retries == (1 if number in spoilt else 0)
        return attempts.best_spoken

    assert sum(asyncio.run(line(number)) for number in range(200)) <= 1
