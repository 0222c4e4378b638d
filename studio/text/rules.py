"""Tables of replacement rules, and the record of what they replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

Replacement = str | Callable[[regex.Match[str]], str]


class Rule(NamedTuple):
    """A pattern and its replacement: a template, or a function of the match.

    The pattern is compiled when it is first applied, because all of them take a tenth of a second.
    """

    subject: str
    pattern: str
    replacement: Replacement


class Step(NamedTuple):
    """One replacement. ``timbre say --dry-run`` shows the subject as the reason of a change."""

    subject: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text after rules.

    Attributes:
        origins: for each position of ``text`` and for its end, the position in the original text.
    """

    text: str
    origins: Sequence[int]
    steps: tuple[Step, ...] = ()


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def rules(subject: str, *pairs: tuple[str, Replacement]) -> tuple[Rule, ...]:
    return tuple(Rule(subject, pattern, replacement) for pattern, replacement in pairs)


def apply_rules(text: str, table: Iterable[Rule], steps: list[Step]) -> str:
    """Return ``text`` after all rules in order, and append what they replaced to ``steps``."""
    for rule in table:

        def replace(match: regex.Match[str], rule: Rule = rule) -> str:
            return _replaced(rule, match, steps)

        text = _compiled(rule.pattern).sub(replace, text)
    return text


def rewrite(text: str, table: Iterable[Rule]) -> Rewritten:
    """Return ``text`` after all rules in order, with the origin of each character."""
    origins: Sequence[int] = range(len(text) + 1)
    steps: list[Step] = []
    for rule in table:
        pieces: list[str] = []
        places: list[int] = []
        position = 0
        for match in _compiled(rule.pattern).finditer(text):
            new = _replaced(rule, match, steps)
            pieces += (text[position : match.start()], new)
            places += origins[position : match.start()]
            places += [origins[match.start()]] * len(new)
            position = match.end()
        if pieces:
            text = "".join([*pieces, text[position:]])
            origins = [*places, *origins[position:]]
    return Rewritten(text, origins, tuple(steps))


def _replaced(rule: Rule, match: regex.Match[str], steps: list[Step]) -> str:
    new = match.expand(rule.replacement) if isinstance(rule.replacement, str) else rule.replacement(match)
    if new != match.group():
        steps.append(Step(rule.subject, match.group(), new))
    return new
