"""Choice of the rules of a language."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from studio.project.attribution.chinese import CHINESE
from studio.project.attribution.english import ENGLISH
from studio.project.attribution.grammar import Gender, Grammar

_MAX_SAMPLE = 20_000
_MAX_PARAGRAPHS = 500
_MIN_CHINESE = 0.2  # share of the letters


def choose_grammar(paragraphs: Sequence[str]) -> Grammar:
    """Return the rules for the language of a text: those of Chinese, or else of English."""
    letters = regex.findall(r"\p{L}", "".join(paragraphs[:_MAX_PARAGRAPHS])[:_MAX_SAMPLE])
    num_chinese = sum(regex.match(r"\p{Han}", letter) is not None for letter in letters)
    return CHINESE if num_chinese > _MIN_CHINESE * len(letters) else ENGLISH


def gender_of_name(name: str) -> Gender | None:
    """Return the gender that a name of a person or voice shows, if any."""
    return choose_grammar([name]).gender_of_name(name)
