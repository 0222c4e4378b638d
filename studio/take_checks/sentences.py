"""Sentences about checks of takes, for the window, the command line and reports."""

from __future__ import annotations

from collections.abc import Sequence

from studio.messages import Message, message
from studio.take_checks.policy import problem_weight
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict

_MAX_QUOTE = 40
_WITH_TEXT = {
    ProblemKind.MISSING_WORDS: Message("“{text}” is missing"),
    ProblemKind.REPEATED_WORDS: Message("“{text}” is repeated"),
    ProblemKind.WRONG_WORDS: Message("“{text}” sounds like other words"),
    ProblemKind.CUT_START: Message("the start of “{text}” is cut off"),
    ProblemKind.CUT_END: Message("the end of “{text}” is cut off"),
}
_WITHOUT_TEXT = {
    ProblemKind.MISSING_WORDS: Message("words are missing"),
    ProblemKind.REPEATED_WORDS: Message("words are repeated"),
    ProblemKind.WRONG_WORDS: Message("some words sound like others"),
    ProblemKind.EXTRA_SPEECH: Message("there is speech that is not in the text"),
    ProblemKind.CUT_START: Message("the start is cut off"),
    ProblemKind.CUT_END: Message("the end is cut off"),
    ProblemKind.LONG_SILENCE: Message("there is a silence of {seconds:.1f} s"),
    ProblemKind.NOISE: Message("there is noise"),
    ProblemKind.CLIPPING: Message("the sound is clipped"),
    ProblemKind.DC_OFFSET: Message("the sound has a DC offset"),
    ProblemKind.ODD_LEVEL: Message("the level differs from other takes of the voice"),
    ProblemKind.ODD_BANDWIDTH: Message("the sound is duller or brighter than other takes of the voice"),
    ProblemKind.ODD_LENGTH: Message("the length is unusual for the text"),
    ProblemKind.ODD_PACE: Message("the pace differs from the rest of the script"),
    ProblemKind.ODD_PITCH: Message("the pitch differs from the rest of the script"),
    ProblemKind.LOOP: Message("a sound repeats in a loop"),
    ProblemKind.OTHER_VOICE: Message("the voice differs from its recording"),
    ProblemKind.VOICE_DRIFT: Message("the voice changes within the take"),
}
_VERDICTS = {
    Verdict.GOOD: Message("Good"),
    Verdict.DOUBTFUL: Message("Doubtful"),
    Verdict.BAD: Message("Bad"),
    Verdict.NOT_CHECKED: Message("Not checked"),
}
_ACCEPTED = Message("Accepted")


def verdict_name(check: TakeCheck) -> Message:
    """Return the verdict, or that the user has accepted the take."""
    return _ACCEPTED if check.is_accepted and check.verdict is not Verdict.GOOD else _VERDICTS[check.verdict]


def problem_phrase(problem: Problem) -> Message:
    """Return what is wrong, without a capital letter and a full stop."""
    text = " ".join(problem.text.split())
    if text and problem.kind in _WITH_TEXT:
        quote = text if len(text) <= _MAX_QUOTE else text[: _MAX_QUOTE - 1].rstrip() + "…"
        return Message(_WITH_TEXT[problem.kind].template, {"text": quote})
    seconds = problem.to_seconds - problem.from_seconds
    return Message(_WITHOUT_TEXT[problem.kind].template, {"seconds": seconds})


def worst_first(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda each: (-problem_weight(each.kind) * each.confidence, each.from_seconds))


def reason(check: TakeCheck) -> Message:
    """Return why a take has its verdict, in one sentence."""
    if not check.problems:
        if check.verdict is Verdict.NOT_CHECKED and check.error_code:
            return message("The check was not possible ({code}).", code=check.error_code)
        return message("The check found no problems.") if check.verdict is Verdict.GOOD else message("Not checked yet.")
    first, *others = worst_first(check.problems)
    phrase = problem_phrase(first)
    if not others:
        return message("At {seconds:.1f} s, {problem}.", seconds=first.from_seconds, problem=phrase)
    if len(others) == 1:
        return message(
            "At {seconds:.1f} s, {problem}, and there is 1 more problem.", seconds=first.from_seconds, problem=phrase
        )
    return message(
        "At {seconds:.1f} s, {problem}, and there are {count} more problems.",
        seconds=first.from_seconds,
        problem=phrase,
        count=len(others),
    )
