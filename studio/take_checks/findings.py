"""Findings of single checks, and how ``checking.py`` combines them to a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from studio.take_checks.records import Problem, ProblemKind, Verdict, WordTime
from studio.take_checks.requests import CheckRequest, Strictness


@dataclass(frozen=True, slots=True)
class TextFindings:
    """Findings of one check of the text, from a recogniser or from the alignment of the language model.

    Attributes:
        problems: Only problems of the text; their confidence need not reach the limit of any strictness.
        words: Word times in the order of the text; empty if no alignment was possible.
        word_error_rate: None if no words were recognised.
        recognizer: Id of the recogniser, or empty.
        error_code: Code of the error because of which recognition was not possible, or empty.
    """

    problems: tuple[Problem, ...] = ()
    words: tuple[WordTime, ...] = ()
    word_error_rate: float | None = None
    recognizer: str = ""
    error_code: str = ""


class TextCheck(Protocol):
    """Compares a take with its text. Errors are returned as ``TextFindings.error_code``, not raised."""

    def __call__(self, request: CheckRequest) -> TextFindings: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Least confidence of a problem that makes a take doubtful, and of one that makes it bad."""

    doubtful: float
    bad: float


# A confidence of 0.5 means that a problem is as probable as a false alarm (see the checks); that is the limit of the
# normal strictness. A take is bad if hardly any good take looks like it.
LIMITS = {
    Strictness.LENIENT: Limits(doubtful=0.75, bad=0.95),
    Strictness.NORMAL: Limits(doubtful=0.5, bad=0.9),
    Strictness.STRICT: Limits(doubtful=0.3, bad=0.8),
}
# Kinds that both a recogniser and the alignment find; agreement makes them more certain.
_TEXT_KINDS = frozenset(
    {
        ProblemKind.MISSING_WORDS,
        ProblemKind.REPEATED_WORDS,
        ProblemKind.WRONG_WORDS,
        ProblemKind.EXTRA_SPEECH,
        ProblemKind.CUT_START,
        ProblemKind.CUT_END,
    }
)


# A problem that one of two checks finds, and the other one does not, is less certain by this much, in logarithms of the
# odds. The alignment of the language model is vague about short words; the embedded recogniser hears some correct words as
# others, and often misses the first or last sound. Chosen with tuning takes of ``packaging/measure.py take-checks``; the
# number of words that only the alignment hears twice with 478 takes (``--seed 21``): two false alarms less, no fault less.
_ALONE_IN_ALIGNMENT = {
    ProblemKind.MISSING_WORDS: 1.6,
    ProblemKind.REPEATED_WORDS: 1.8,
    ProblemKind.CUT_START: 1.15,
    ProblemKind.CUT_END: 1.15,
}
_ALONE_IN_RECOGNITION = {
    ProblemKind.MISSING_WORDS: 1.0,
    ProblemKind.REPEATED_WORDS: 1.0,
    ProblemKind.EXTRA_SPEECH: 1.0,
    ProblemKind.WRONG_WORDS: 1.0,
    ProblemKind.CUT_START: 3.1,
    ProblemKind.CUT_END: 3.1,
}
_SINGLE_WRONG_WORD = 3.1
# The model's own recogniser hears short words as well, so a problem that only the alignment finds is rarely a fault.
_ALONE_BESIDE_MODEL = dict.fromkeys(_TEXT_KINDS, 3.0)
# A repeated word this close to a wrong or missing one is a part of what the recogniser heard instead of it: "the the" for
# "into the", for example.
_BESIDE_SECONDS = 0.15
_OTHER_HALVES = {
    ProblemKind.REPEATED_WORDS: (ProblemKind.WRONG_WORDS, ProblemKind.MISSING_WORDS, ProblemKind.EXTRA_SPEECH),
    ProblemKind.MISSING_WORDS: (ProblemKind.REPEATED_WORDS, ProblemKind.EXTRA_SPEECH),
    ProblemKind.EXTRA_SPEECH: (ProblemKind.MISSING_WORDS,),
}
_MAX_WORD_SECONDS = 0.6
# The recogniser's confidence is often 1; this is the most that it is worth, before the numbers above are subtracted.
_MAX_RECOGNIZED = 0.95


def verdict_of(problems: tuple[Problem, ...], strictness: Strictness) -> Verdict:
    """Return the verdict on a take with these problems."""
    limits = LIMITS[strictness]
    worst = max((problem.confidence for problem in problems), default=0.0)
    if worst >= limits.bad:
        return Verdict.BAD
    return Verdict.DOUBTFUL if worst >= limits.doubtful else Verdict.GOOD


def weighed(
    aligned: Sequence[Problem], recognized: Sequence[Problem]
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Return the problems of the alignment and of the embedded recogniser, less certain where only one check finds them."""
    limited = [replace(each, confidence=min(each.confidence, _MAX_RECOGNIZED)) for each in recognized]
    return (
        tuple(_weighed(each, recognized, _ALONE_IN_ALIGNMENT) for each in aligned),
        tuple(_weighed(each, aligned, _ALONE_IN_RECOGNITION, _is_single_wrong_word(each, limited)) for each in limited),
    )


def confirmed(aligned: Sequence[Problem], recognized: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems of the alignment, less certain where the model's own recogniser does not find them."""
    return tuple(_weighed(each, recognized, _ALONE_BESIDE_MODEL) for each in aligned)


def _weighed(
    problem: Problem, others: Sequence[Problem], alone: Mapping[ProblemKind, float], is_single_wrong_word: bool = False
) -> Problem:
    if any(_is_same(problem, other) for other in others):
        return problem
    less = max(alone.get(problem.kind, 0.0), _SINGLE_WRONG_WORD if is_single_wrong_word else 0.0)
    confidence = min(max(problem.confidence, 1e-6), 1.0 - 1e-6)
    odds = math.log(confidence / (1.0 - confidence)) - less
    return replace(problem, confidence=round(1.0 / (1.0 + math.exp(-odds)), 3))


def _is_single_wrong_word(problem: Problem, heard: Sequence[Problem]) -> bool:
    """Return whether the recogniser heard one word as another, and perhaps that as a repetition of a third one."""
    if problem.kind is ProblemKind.WRONG_WORDS:
        return len(problem.text.split()) == 1
    if problem.kind not in _OTHER_HALVES or (problem.kind is ProblemKind.MISSING_WORDS and " " in problem.text):
        return False
    if problem.kind is ProblemKind.EXTRA_SPEECH and problem.to_seconds - problem.from_seconds > _MAX_WORD_SECONDS:
        return False
    return any(
        other.kind in _OTHER_HALVES[problem.kind]
        and problem.from_seconds <= other.to_seconds + _BESIDE_SECONDS
        and other.from_seconds <= problem.to_seconds + _BESIDE_SECONDS
        for other in heard
    )


def combined(first: tuple[Problem, ...], second: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the problems of two independent checks in the order of their places.

    Problems of the text that overlap are one problem, with the place and text of the more certain check and a higher
    confidence than either of them.
    """
    remaining = list(second)
    joined: list[Problem] = []
    for problem in first:
        same = next((other for other in remaining if _is_same(problem, other)), None)
        if same is None:
            joined.append(problem)
            continue
        remaining.remove(same)
        joined.append(_agreed(problem, same))
    return tuple(sorted((*joined, *remaining), key=lambda problem: (problem.from_seconds, problem.to_seconds)))


def _is_same(first: Problem, second: Problem) -> bool:
    overlap = first.from_seconds <= second.to_seconds and second.from_seconds <= first.to_seconds
    return overlap and (first.kind is second.kind or {first.kind, second.kind} <= _TEXT_KINDS)


def _agreed(first: Problem, second: Problem) -> Problem:
    surer = first if first.confidence >= second.confidence else second
    return Problem(
        surer.kind,
        surer.from_seconds,
        surer.to_seconds,
        surer.text,
        1.0 - (1.0 - first.confidence) * (1.0 - second.confidence),
        surer.text_start,
        surer.text_end,
    )
