"""Text normalisation: cleaning, grammars and rules, with a cache. Works on text without tags."""

from __future__ import annotations

from functools import lru_cache

import regex

from studio.text.chinese import drop_blanks, normalize_chinese
from studio.text.clean import clean, parentheses_to_commas
from studio.text.english import normalize_english
from studio.text.grammar import normalize_with_grammar
from studio.text.language import Language

_CACHED_TEXTS = 4096
_SIGNS = regex.compile(r"[\^*_#~～]+")
_BLANKS = regex.compile(r" {2,}")
_GROUPED = regex.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!,?\d)")


@lru_cache(maxsize=_CACHED_TEXTS)
def normalize(text: str, language: Language) -> str:
    """Return ``text`` cleaned and in spoken form. White space at each end becomes at most one space."""
    text = parentheses_to_commas(clean(text), language)
    if language is Language.ENGLISH:
        return normalize_english(text)
    if language is Language.CHINESE:
        return normalize_chinese(text)
    text = _BLANKS.sub(" ", _SIGNS.sub(" ", text))
    if language is Language.JAPANESE:
        text = _GROUPED.sub(lambda match: match.group().replace(",", ""), text)
        return drop_blanks(normalize_with_grammar(text, language))
    return text
