"""Differences between a recording and its typed transcript, for example of a voice's prompt."""

from __future__ import annotations

from collections.abc import Sequence

from studio.take_checks.comparison import compare
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, HeardUnit, Recognizer, Samples
from studio.take_checks.records import Difference, DifferenceKind, Problem, ProblemKind
from studio.take_checks.requests import TranscriptRequest
from studio.take_checks.units import spoken_units

_MIN_CONFIDENCE = 0.5
_KINDS = {ProblemKind.MISSING_WORDS: DifferenceKind.MISSING, ProblemKind.CUT_START: DifferenceKind.MISSING,
          ProblemKind.CUT_END: DifferenceKind.MISSING, ProblemKind.EXTRA_SPEECH: DifferenceKind.EXTRA,
          ProblemKind.REPEATED_WORDS: DifferenceKind.EXTRA}  # fmt: skip


def transcript_differences(
    request: TranscriptRequest,
    recognizer: Recognizer,
    samples: Samples,
    transcribed: Sequence[HeardUnit],
    language: str,
) -> tuple[Difference, ...]:
    """Return where ``samples`` and the typed transcript differ. ``transcribed`` contains what was heard instead."""
    units = spoken_units(request.typed, language)
    recognition = recognizer.recognize(samples, [unit.text for unit in units], language)
    found = compare(
        request.typed,
        units,
        recognition,
        seconds=len(samples) / SAMPLE_RATE,
        recognizer=recognizer.name,
        language=language,
        known_words=request.known_words,
    )
    return tuple(
        _difference(problem, request.typed, transcribed)
        for problem in found.problems
        if problem.confidence >= _MIN_CONFIDENCE
    )


def _difference(problem: Problem, typed: str, transcribed: Sequence[HeardUnit]) -> Difference:
    kind = _KINDS.get(problem.kind, DifferenceKind.OTHER)
    heard = (
        [unit.text for unit in transcribed if _is_within(unit, problem)] if kind is not DifferenceKind.MISSING else []
    )
    words = "" if problem.kind is ProblemKind.REPEATED_WORDS else problem.text
    start = problem.text_start if problem.text_start >= 0 else len(typed)
    return Difference(
        kind,
        words,
        " ".join(heard),
        start,
        start + len(words),
        problem.from_seconds,
        problem.to_seconds,
        problem.confidence,
    )


def _is_within(unit: HeardUnit, problem: Problem) -> bool:
    middle = (unit.from_seconds + unit.to_seconds) / 2
    return problem.from_seconds <= middle <= problem.to_seconds
