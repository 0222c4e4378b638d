"""Normalisation of text without tags: unspeakable characters are removed, and the rest is converted to spoken form.

Decision: round, square and lenticular brackets mark asides, which are spoken between commas. Reason: narrators read
asides aloud. Alternative: remove the brackets and join the words, as the official program does, which is wrong for
asides and for stage directions. English round brackets stay, because the models support them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import regex

from studio.text.chinese import drop_blanks, normalize_chinese
from studio.text.cleaning import CONTROLS
from studio.text.english import normalize_english
from studio.text.language import Language
from studio.text.numerals import spell_out
from studio.text.rules import Step

_BLANKS = regex.compile(r"\s+")
_CONTROLS = regex.compile(CONTROLS)


class Normalized(NamedTuple):
    """A text in spoken form, and what rules replaced in it."""

    text: str
    steps: tuple[Step, ...]


_ASIDE = "\ue010"
_BRACKETS = regex.compile(r"[（）【】［］〔〕〖〗｛｝\[\]{}]")
_BRACKETS_AND_ROUND = regex.compile(r"[（）()【】［］〔〕〖〗｛｝\[\]{}]")
_ASIDE_RUN = regex.compile(rf"\s*{_ASIDE}[\s{_ASIDE}]*")
_NEGATIVE_NUMBER = regex.compile(r"[-−]\d")
_PUNCTUATION = regex.compile(r"[\p{P}--[\"'“‘「『《〈@#%&]]", flags=regex.V1)


def strip_controls(text: str) -> str:
    """Return ``text`` without control and unassigned characters. Also used for text that is not normalised."""
    return _CONTROLS.sub("", _BLANKS.sub(" ", text))


def parentheses_to_commas(text: str, language: Language) -> str:
    """Replace brackets by commas, except next to other punctuation or at the ends of the text."""
    brackets = _BRACKETS_AND_ROUND if language.writes_without_spaces else _BRACKETS
    text = brackets.sub(_ASIDE, text)
    comma = {Language.CHINESE: "，", Language.JAPANESE: "、"}.get(language, ", ")
    pieces = _ASIDE_RUN.split(text)
    joined = pieces[0]
    for piece in pieces[1:]:
        has_pause = not joined.strip() or not piece.strip() or _PUNCTUATION.fullmatch(joined[-1])
        if not has_pause and not _NEGATIVE_NUMBER.match(piece):
            has_pause = _PUNCTUATION.fullmatch(piece[0])
        blank = "" if language.writes_without_spaces or not joined or not piece or piece[0] in ",.;:!?" else " "
        joined += (blank if has_pause else comma) + piece
    return joined


_CACHED_TEXTS = 4096


@lru_cache(maxsize=_CACHED_TEXTS)
def normalize(text: str, language: Language, *, day_first: bool = False) -> Normalized:
    """Return ``text``, which has been cleaned, in spoken form. White space at each end becomes at most one space.

    ``day_first`` is the order of English dates such as 3/4/2024.
    """
    steps: list[Step] = []
    text = parentheses_to_commas(_BLANKS.sub(" ", text), language)
    if language is Language.ENGLISH:
        text = normalize_english(text, steps, day_first=day_first)
    elif language is Language.CHINESE:
        text = normalize_chinese(text, steps)
    else:
        text = _BLANKS.sub(" ", spell_out(text, language, steps))
        text = drop_blanks(text) if language is Language.JAPANESE else text
    return Normalized(text, tuple(steps))
