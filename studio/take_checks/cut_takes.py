"""Check of a take whose silence has been cut, derived from the check of the take before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.take_checks.findings import choose_verdict
from studio.take_checks.records import ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import Strictness

_SHORTENED_SECONDS = 0.01


def check_after_cuts(check: TakeCheck, time_after: Callable[[float], float], strictness: Strictness) -> TakeCheck:
    """Return ``check`` with all times moved by ``time_after``.

    Long silences that have been shortened are no longer problems; without them, the verdict may be better.
    """
    words = tuple(
        replace(word, from_seconds=time_after(word.from_seconds), to_seconds=time_after(word.to_seconds))
        for word in check.words
    )
    problems = []
    for problem in check.problems:
        start, end = time_after(problem.from_seconds), time_after(problem.to_seconds)
        is_shortened = end - start < problem.to_seconds - problem.from_seconds - _SHORTENED_SECONDS
        if problem.kind is not ProblemKind.LONG_SILENCE or not is_shortened:
            problems.append(replace(problem, from_seconds=start, to_seconds=end))
    verdict = check.verdict
    if len(problems) < len(check.problems) and verdict is not Verdict.NOT_CHECKED:
        verdict = choose_verdict(tuple(problems), strictness)
    return replace(check, verdict=verdict, problems=tuple(problems), words=words)
