"""English number phrases, the parts of a sentence that are passed to the grammar.

Decision: wetext processes "$1.5 million" and "May 1st, 2024" without the words around them. Reason: its English
grammar also changes other words (the Sun becomes Sunday, TV becomes Television), and an unknown sign empties the
whole sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from studio.text.grammar import normalize_with_grammar
from studio.text.language import Language

_WORD = regex.compile(r"\S+")
_EDGES = "()\"“”'‘’.,;:!?…"
_NEEDS_GRAMMAR = regex.compile(r"\d|[&@%+=°$£€¥πΩ]|://|\bwww\.")
# Words that are read together with an adjacent number.
_MONTH_NAMES = (
    "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
_MEASURES = (
    "thousand million billion trillion am pm a.m p.m AM PM BC AD BCE CE kg g mg t km m cm mm mi ft in yd lb lbs oz "
    "mph km/h l ml s sec ms min h hr hrs kb mb gb tb KB MB GB TB Hz kHz MHz GHz W kW V A mA kWh C F K dB px "
    "square cubic meters kilometers centimeters millimeters"
)
_COMPANIONS = frozenset(f"{_MONTH_NAMES} {_MEASURES}".split())


def spell_out_number_phrases(text: str) -> str:
    """Return ``text`` with number phrases in words and everything else unchanged."""
    spoken: list[str] = []
    position = 0
    for start, end in _phrases(text):
        spoken += (text[position:start], normalize_with_grammar(text[start:end], Language.ENGLISH))
        position = end
    return "".join([*spoken, text[position:]])


def _phrases(text: str) -> Iterator[tuple[int, int]]:
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    needs = [_NEEDS_GRAMMAR.search(text, start, end) is not None for start, end in words]
    belongs = [need or _is_companion(text[start:end]) for need, (start, end) in zip(needs, words, strict=True)]
    index = 0
    while index < len(words):
        first = index
        while index < len(words) and belongs[index]:
            index += 1
        if any(needs[first:index]):
            yield words[first][0], words[index - 1][1]
        index += 1


def _is_companion(word: str) -> bool:
    return word.strip(_EDGES) in _COMPANIONS
