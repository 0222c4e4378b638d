"""Words of a take: as spoken, and the words of the written text that they belong to.

A spoken text is normalised: ``42`` becomes ``forty two``. Checks work on spoken words; problems and word times refer to
the written text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from studio.take_checks.records import WordTime

# A word, or one character of a script without spaces.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]|(?:(?![\p{Han}\p{Hiragana}\p{Katakana}])[\p{L}\p{M}\p{N}])+"
    r"(?:['’.,](?=[\p{L}\p{N}])(?:(?![\p{Han}\p{Hiragana}\p{Katakana}])[\p{L}\p{M}\p{N}])+)*"
)

_PAUSE = regex.compile(r"[^\p{L}\p{M}\p{N}\s'’-]|\n")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Return the words of ``text``; in Chinese and Japanese, each character is one."""
    return [Word(match.group(), *match.span()) for match in _WORD.finditer(text)]


def written_words(written: Sequence[Word], spoken: Sequence[Word]) -> list[int]:
    """Return for each spoken word the index of the written word it belongs to, in ascending order; empty without any."""
    if not written:
        return []
    first = [word.text.casefold() for word in written]
    second = [word.text.casefold() for word in spoken]
    indices = [0] * len(spoken)
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for j in range(j1, j2):
            if kind == "equal":
                indices[j] = i1 + j - j1
            elif i2 > i1:
                indices[j] = i1 + (j - j1) * (i2 - i1) // (j2 - j1)
            else:  # an added word, such as "dollars", belongs to the previous one
                indices[j] = max(0, i1 - 1)
    return indices


def pause_times(text: str, words: Sequence[WordTime]) -> list[float]:
    """Return the times at which punctuation in ``text`` allows a pause."""
    pauses = []
    for before, after in pairwise(words):
        if _PAUSE.search(text[before.text_end : after.text_start]):
            pauses += [before.to_seconds, after.from_seconds]
    return pauses
