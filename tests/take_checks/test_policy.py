"""Automatic retries: seeds, the best take, and how many wrong lines remain."""

from __future__ import annotations

from dataclasses import replace

from studio.take_checks.policy import (
    CheckMode,
    CheckPolicy,
    ProjectCheckPolicy,
    find_best,
    quality_key,
    retry_seed,
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
