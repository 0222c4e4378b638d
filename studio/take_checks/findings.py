"""Findings of single checks, and how ``checking.py`` combines them to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from studio.take_checks.confidence import logistic, odds
from studio.take_checks.recognizers.choice import EMBEDDED, MODEL
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


# Compares a take with its text. Errors are returned as ``TextFindings.error_code``, not raised.
TextCheck = Callable[[CheckRequest], TextFindings]


@dataclass(frozen=True, slots=True)
class Limits:
    """Minimum confidence of a problem that makes a take doubtful, and of one that makes it bad."""

    doubtful: float
    bad: float


# A confidence of 0.5 means that a problem is as probable as a false alarm (see the checks); that is the limit of the
# normal strictness. A take is bad if hardly any good take looks like it.
LIMITS = {
    Strictness.LENIENT: Limits(doubtful=0.75, bad=0.95),
    Strictness.NORMAL: Limits(doubtful=0.5, bad=0.9),
    Strictness.STRICT: Limits(doubtful=0.3, bad=0.8),
}


@dataclass(frozen=True, slots=True)
class _Alone:
    """How much less certain a problem is if only one of two checks finds it, in logarithms of the odds.

    Attributes:
        alignment, pocketsphinx: If only the alignment of the language model, or only pocketsphinx, finds it.
        alignment_beside_model: If only the alignment, and not the model's own recogniser, finds it.
    """

    alignment: float
    pocketsphinx: float
    alignment_beside_model: float


# The alignment is vague about short words. Pocketsphinx hears some correct words as others, and often misses the first or
# last sound. The model's own recogniser hears short words as well, so a problem that only it finds is not less certain.
# Chosen with tuning takes of ``packaging/measure.py take-checks``; the number of words that only the alignment hears twice
# with 478 takes (``--seed 21``): two fewer false alarms, and no fewer faults found.
_ALONE = {
    ProblemKind.MISSING_WORDS: _Alone(1.6, 1.0, 3.0),
    ProblemKind.REPEATED_WORDS: _Alone(1.8, 1.0, 3.0),
    ProblemKind.WRONG_WORDS: _Alone(0.0, 1.0, 3.0),
    ProblemKind.EXTRA_SPEECH: _Alone(0.0, 1.0, 3.0),
    ProblemKind.CUT_START: _Alone(1.15, 3.1, 3.0),
    ProblemKind.CUT_END: _Alone(1.15, 3.1, 3.0),
}
_SINGLE_WRONG_WORD = 3.1  # of pocketsphinx alone
# A repeated word this close to a wrong or missing one is a part of what the recogniser heard instead of it: "the the" for
# "into the", for example.
_BESIDE_SECONDS = 0.15
_OTHER_HALVES = {
    ProblemKind.REPEATED_WORDS: (ProblemKind.WRONG_WORDS, ProblemKind.MISSING_WORDS, ProblemKind.EXTRA_SPEECH),
    ProblemKind.MISSING_WORDS: (ProblemKind.REPEATED_WORDS, ProblemKind.EXTRA_SPEECH),
    ProblemKind.EXTRA_SPEECH: (ProblemKind.MISSING_WORDS,),
}
_MAX_WORD_SECONDS = 0.6
# Cap on the confidence of pocketsphinx, which is often 1, before the numbers above are subtracted.
_MAX_RECOGNIZED = 0.95


def choose_verdict(problems: tuple[Problem, ...], strictness: Strictness) -> Verdict:
    """Return the verdict on a take with these problems."""
    limits = LIMITS[strictness]
    worst = max((problem.confidence for problem in problems), default=0.0)
    if worst >= limits.bad:
        return Verdict.BAD
    return Verdict.DOUBTFUL if worst >= limits.doubtful else Verdict.GOOD


def fused(aligned: TextFindings, recognized: TextFindings) -> tuple[Problem, ...]:
    """Return the problems of the language model's alignment and of a recogniser, less certain where only one finds them."""
    first, second = aligned.problems, recognized.problems
    if recognized.recognizer == MODEL:
        first = tuple(_weighed(each, second, _ALONE[each.kind].alignment_beside_model) for each in first)
    elif recognized.recognizer == EMBEDDED.name and aligned.words:
        limited = [replace(each, confidence=min(each.confidence, _MAX_RECOGNIZED)) for each in second]
        second = tuple(_weighed(each, first, _alone_in_pocketsphinx(each, limited)) for each in limited)
        first = tuple(_weighed(each, recognized.problems, _ALONE[each.kind].alignment) for each in first)
    return combined(first, second)


def _weighed(problem: Problem, others: Sequence[Problem], alone: float) -> Problem:
    if any(_is_same(problem, other) for other in others):
        return problem
    return replace(problem, confidence=round(logistic(odds(problem.confidence) - alone), 3))


def _alone_in_pocketsphinx(problem: Problem, heard: Sequence[Problem]) -> float:
    alone = _ALONE[problem.kind].pocketsphinx
    return max(alone, _SINGLE_WRONG_WORD) if _is_single_wrong_word(problem, heard) else alone


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
    return overlap and (first.kind is second.kind or {first.kind, second.kind} <= _ALONE.keys())


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
