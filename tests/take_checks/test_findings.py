"""Combination of findings to a verdict."""

from __future__ import annotations

import pytest

from studio.take_checks.findings import TextFindings, choose_verdict, combined, fused
from studio.take_checks.recognizers.choice import EMBEDDED, MODEL
from studio.take_checks.records import Problem, ProblemKind, Verdict, WordTime
from studio.take_checks.requests import Strictness


def problem(kind: ProblemKind, start: float, confidence: float) -> Problem:
    return Problem(kind, start, start + 0.5, "storm", confidence, 4, 9)


@pytest.mark.parametrize(
    ("strictness", "verdict"),
    [
        (Strictness.LENIENT, Verdict.GOOD),
        (Strictness.NORMAL, Verdict.DOUBTFUL),
        (Strictness.STRICT, Verdict.DOUBTFUL),
    ],
)
def test_strictness_decides_whether_a_probable_problem_counts(strictness: Strictness, verdict: Verdict) -> None:
    assert choose_verdict((problem(ProblemKind.LOOP, 1.0, 0.6),), strictness) is verdict


def test_a_take_without_problems_is_good_and_a_certain_problem_makes_it_bad() -> None:
    assert choose_verdict((), Strictness.STRICT) is Verdict.GOOD
    assert choose_verdict((problem(ProblemKind.CUT_END, 1.0, 0.97),), Strictness.LENIENT) is Verdict.BAD


def test_two_checks_that_agree_are_surer_than_each_of_them() -> None:
    both = combined(
        (problem(ProblemKind.MISSING_WORDS, 1.0, 0.4),),
        (problem(ProblemKind.WRONG_WORDS, 1.2, 0.5), problem(ProblemKind.MISSING_WORDS, 9.0, 0.4)),
    )
    assert [(found.kind, found.from_seconds, round(found.confidence, 3)) for found in both] == [
        (ProblemKind.WRONG_WORDS, 1.2, 0.7),
        (ProblemKind.MISSING_WORDS, 9.0, 0.4),
    ]


def test_other_kinds_at_the_same_place_remain_separate() -> None:
    both = combined((problem(ProblemKind.NOISE, 1.0, 0.4),), (problem(ProblemKind.MISSING_WORDS, 1.0, 0.4),))
    assert len(both) == 2


def fuse(
    aligned: tuple[Problem, ...], recognized: tuple[Problem, ...], recognizer: str = EMBEDDED.name
) -> tuple[Problem, ...]:
    words = (WordTime("storm", 1.0, 1.5, 4, 9),)
    return fused(TextFindings(aligned, words), TextFindings(recognized, recognizer=recognizer))


def weighed_confidence(aligned: tuple[Problem, ...], recognized: tuple[Problem, ...]) -> float:
    return max(found.confidence for found in fuse(aligned, recognized))


@pytest.mark.parametrize(
    ("kind", "confidence"),
    [  # of tuning takes that are good
        (ProblemKind.MISSING_WORDS, 0.82),
        (ProblemKind.REPEATED_WORDS, 0.85),
        (ProblemKind.CUT_START, 0.73),
    ],
)
def test_what_only_the_alignment_finds_must_be_more_certain(kind: ProblemKind, confidence: float) -> None:
    assert weighed_confidence((problem(kind, 1.0, confidence),), ()) < 0.5
    assert weighed_confidence((problem(kind, 1.0, 0.94),), ()) > 0.5


def test_one_wrong_word_that_only_the_recogniser_hears_counts_if_the_check_is_strict() -> None:
    school = Problem(ProblemKind.WRONG_WORDS, 2.08, 2.7, "school", 1.0, 38, 44)
    (found,) = fuse((), (school,))
    assert choose_verdict((found,), Strictness.NORMAL) is Verdict.GOOD
    assert choose_verdict((found,), Strictness.STRICT) is Verdict.DOUBTFUL
    several = Problem(ProblemKind.WRONG_WORDS, 0.39, 0.95, "wrote a long letter", 1.0, 4, 23)
    assert choose_verdict(fuse((), (several,)), Strictness.NORMAL) is Verdict.DOUBTFUL


@pytest.mark.parametrize("kind", [ProblemKind.WRONG_WORDS, ProblemKind.MISSING_WORDS])
def test_a_word_heard_as_a_repetition_of_another_one_is_one_wrong_word(kind: ProblemKind) -> None:
    replaced = Problem(kind, 1.67, 1.75, "silver", 0.98, 30, 36)
    repeated = Problem(ProblemKind.REPEATED_WORDS, 1.75, 2.0, "the", 0.98, 26, 29)
    assert weighed_confidence((), (repeated, replaced)) < 0.5
    elsewhere = Problem(ProblemKind.REPEATED_WORDS, 0.2, 0.4, "the", 0.98, 0, 3)
    assert weighed_confidence((), (elsewhere, replaced)) > 0.5


@pytest.mark.parametrize(("end", "counts"), [(0.71, False), (1.4, True)])
def test_other_speech_beside_a_missing_word_is_one_wrong_word_unless_it_is_long(end: float, counts: bool) -> None:
    missing = Problem(ProblemKind.MISSING_WORDS, 0.25, 0.45, "wrote", 0.99, 4, 9)
    other = Problem(ProblemKind.EXTRA_SPEECH, 0.37, end, "", 0.99)
    (found,) = [each for each in fuse((), (missing, other)) if each.kind is ProblemKind.EXTRA_SPEECH]
    assert (found.confidence > 0.5) is counts


@pytest.mark.parametrize(("kind", "confidence"), [(ProblemKind.MISSING_WORDS, 0.9), (ProblemKind.EXTRA_SPEECH, 0.98)])
def test_a_short_word_that_only_the_recogniser_misses_or_hears_twice_is_found(
    kind: ProblemKind, confidence: float
) -> None:
    assert weighed_confidence((), (problem(kind, 1.06, confidence),)) > 0.5


def test_weak_findings_of_both_checks_at_one_place_are_found() -> None:
    aligned = Problem(ProblemKind.REPEATED_WORDS, 0.72, 1.56, "watered", 0.41, 13, 20)
    recognized = Problem(ProblemKind.REPEATED_WORDS, 1.17, 1.52, "watered", 0.4, 13, 20)
    assert weighed_confidence((aligned,), (recognized,)) > 0.5
    elsewhere = Problem(ProblemKind.REPEATED_WORDS, 2.4, 2.8, "tomato", 0.4, 35, 41)
    assert weighed_confidence((aligned,), (elsewhere,)) < 0.5


@pytest.mark.parametrize("kind", [ProblemKind.MISSING_WORDS, ProblemKind.REPEATED_WORDS, ProblemKind.CUT_END])
def test_beside_the_models_own_recogniser_the_alignment_alone_counts_little(kind: ProblemKind) -> None:
    (alone,) = fuse((problem(kind, 1.0, 0.9),), (), MODEL)
    assert alone.confidence < 0.5
    first, _ = fuse((problem(kind, 1.0, 0.9),), (problem(kind, 5.0, 0.99),), MODEL)
    assert first == alone
    (both,) = fuse((problem(kind, 1.0, 0.9),), (problem(kind, 1.2, 0.4),), MODEL)
    assert both.confidence == pytest.approx(0.94)
    (certain,) = fuse((problem(kind, 1.0, 0.98),), (), MODEL)
    assert certain.confidence > 0.5


def test_findings_of_other_recognisers_are_combined_as_they_are() -> None:
    aligned, recognized = problem(ProblemKind.REPEATED_WORDS, 1.0, 0.82), problem(ProblemKind.WRONG_WORDS, 5.0, 1.0)
    assert fuse((aligned,), (recognized,), "SenseVoiceSmall") == (aligned, recognized)
