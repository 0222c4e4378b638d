"""Changes from a text as written to the text as spoken, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import regex

from studio.text.rules import Step

_TOKEN = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]|(?:(?![\p{Han}\p{Hiragana}\p{Katakana}])[\p{L}\p{M}\p{N}'])+|\S"
)
_WORD = regex.compile(r"[\p{L}\p{N}]+")
# Reason of a change that no rule recorded: an end mark, or a comma for a bracket.
_PUNCTUATION = "punctuation"


@dataclass(frozen=True, slots=True)
class TextChange:
    """Words that are spoken differently from how they are written."""

    before: str
    after: str
    subject: str
    start: int  # place of ``after`` in the spoken text
    end: int


def find_changes(written: str, spoken: str, steps: Sequence[Step] = ()) -> Iterator[TextChange]:
    """Yield the changes, in order. ``steps`` are what rules replaced in ``written``."""
    before, after = list(_TOKEN.finditer(written)), list(_TOKEN.finditer(spoken))
    # Marks match beside equal words only: the point of an amount is not the one that ends the sentence.
    matcher = SequenceMatcher(
        lambda token: not _WORD.search(token),
        [each.group() for each in before],
        [each.group() for each in after],
        autojunk=False,
    )
    for kind, low, old_end, spoken_low, new_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        high, spoken_high = old_end, new_end
        while high > low and spoken_high > spoken_low and before[high - 1].group() == after[spoken_high - 1].group():
            high, spoken_high = high - 1, spoken_high - 1
        old = written[before[low].start() : before[high - 1].end()] if high > low else ""
        start = after[spoken_low].start() if spoken_low < len(after) else len(spoken)
        end = after[spoken_high - 1].end() if spoken_high > spoken_low else start
        new = spoken[start:end]
        if _WORD.search(old + new) or old.strip(".,!?…—") != new.strip(".,!?…—"):
            yield TextChange(old, new, _subject(old, new, steps), start, end)


def _subject(before: str, after: str, steps: Sequence[Step]) -> str:
    """Return the subject of the step that shares the most words with a change."""
    old, new = set(_TOKEN.findall(before)), set(_TOKEN.findall(after))

    def shared(step: Step) -> int:
        return len(old & set(_TOKEN.findall(step.before))) + len(new & set(_TOKEN.findall(step.after)))

    best = max(steps, key=lambda step: (shared(step), -len(step.before)), default=None)
    return best.subject if best is not None and shared(best) else _PUNCTUATION
