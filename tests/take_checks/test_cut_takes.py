"""Checks of takes follow cuts of their silence."""

from __future__ import annotations

from studio.take_checks.cut_takes import check_after_cuts
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict, WordTime
from studio.take_checks.requests import Strictness

SILENCE = Problem(ProblemKind.LONG_SILENCE, 1.0, 2.5, confidence=0.9)
NOISE = Problem(ProblemKind.NOISE, 2.6, 3.0, confidence=0.5)


def time_after(seconds: float) -> float:
    """Times after removing 1.5 to 2.5 s."""
    return seconds if seconds < 1.5 else max(1.5, seconds - 1.0)


def test_words_and_problems_are_moved() -> None:
    words = (WordTime("one", 0.0, 1.0, 0, 3), WordTime("two", 2.5, 3.0, 4, 7))
    check = TakeCheck(Verdict.BAD, (SILENCE, NOISE), similarity=0.8, words=words, recognizer="small")
    moved = check_after_cuts(check, time_after, Strictness.NORMAL)
    assert moved.words == (words[0], WordTime("two", 1.5, 2.0, 4, 7))
    (noise,) = moved.problems
    assert (noise.kind, noise.from_seconds, noise.to_seconds) == (ProblemKind.NOISE, 1.6, 2.0)
    assert (moved.similarity, moved.recognizer) == (0.8, "small")


def test_the_verdict_is_better_only_without_the_silence_that_caused_it() -> None:
    silent = TakeCheck(Verdict.BAD, (SILENCE,))
    assert check_after_cuts(silent, time_after, Strictness.NORMAL).verdict is Verdict.GOOD
    assert check_after_cuts(silent, lambda seconds: seconds, Strictness.NORMAL) == silent
    noisy = TakeCheck(Verdict.BAD, (NOISE,))
    assert check_after_cuts(noisy, time_after, Strictness.NORMAL).verdict is Verdict.BAD
    unchecked = TakeCheck(Verdict.NOT_CHECKED, (SILENCE,))
    assert check_after_cuts(unchecked, time_after, Strictness.NORMAL).verdict is Verdict.NOT_CHECKED
