"""What is spoken of a text: words, or characters in Chinese and Japanese, with their places in the text as written.

The text goes through the front end of the synthesis, which spells out numbers and signs. The spoken units are then
matched with the written ones, so that "1984" is the place of "nineteen", "eighty" and "four".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from studio.errors import StyleNotSupported
from studio.text.cleaning import clean
from studio.text.language import (
    Language,
    detect_language,
    is_english_inset,
    language_of_emoji,
    parse_language,
)
from studio.text.normalize import normalize
from studio.text.simplified import simplified
from studio.text.split import PHONE, Layout, cut_points
from studio.text.tags import TagSet
from studio.text.tokenizer import COSYVOICE2_TEXT, COSYVOICE3_TEXT

# Units whose sound is unknown: pronunciation tokens.
UNKNOWN = ""

_CHARACTER = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"
_LETTER = rf"(?!{_CHARACTER})[\p{{L}}\p{{M}}]"
_UNIT = regex.compile(rf"(?P<phones>{PHONE}+)|{_CHARACTER}|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*['’]?|\p{{N}}+")
_HAN = regex.compile(r"\p{Han}")
_TAGS = TagSet(
    tuple(dict.fromkeys((*COSYVOICE3_TEXT.tags.inline, *COSYVOICE2_TEXT.tags.inline))), COSYVOICE3_TEXT.tags.phones
)
_IGNORED_APOSTROPHE = regex.compile(r"['’]\Z")


@dataclass(frozen=True, slots=True)
class SpokenUnit:
    """A word or character in lower case, or ``UNKNOWN``, and its place in the text as written."""

    text: str
    start: int
    end: int


def spoken_units(text: str, language: str = "") -> tuple[SpokenUnit, ...]:
    """Return what is spoken of ``text``. An empty ``language`` is detected."""
    cleaned = clean(text, _TAGS, emoji_language=language_of_emoji(language, text))
    masked = _masked(cleaned.text)
    main = choose_language(language, masked)
    units: list[SpokenUnit] = []
    start = 0
    for end in [*cut_points(masked, main), len(masked)]:
        if end > start:
            units += _clause_units(masked[start:end], start, main, day_first=parse_language(language).day_first)
            start = end
    return tuple(SpokenUnit(unit.text, cleaned.origins[unit.start], cleaned.origins[unit.end]) for unit in units)


def expected_texts(units: Sequence[SpokenUnit], text: str) -> list[str]:
    """Return what a recogniser should hear of ``text``: its units, with pronunciation tokens as written."""
    return [unit.text or (written if is_tokens(written := text[unit.start : unit.end]) else UNKNOWN) for unit in units]


def is_tokens(unit: str) -> bool:
    """Return whether a unit for a recogniser is pronunciation tokens."""
    return unit.startswith("[")


def heard_text(text: str) -> str:
    """Return the text of a recogniser in the form of ``SpokenUnit.text``: lower case, simplified, without punctuation."""
    return " ".join(unit.text for unit in _written_units(text, 0))


def choose_language(tag: str, text: str) -> Language:
    """Return the language with this tag. An unknown or empty tag is detected."""
    return parse_language(tag).language or detect_language(text)


def is_character(unit: str) -> bool:
    """Return whether a unit is a character of a script without spaces."""
    return len(unit) == 1 and not unit.isascii()


def _masked(text: str) -> str:
    """Return ``text`` with tags replaced: pronunciation tokens by ``PHONE``, all others by spaces."""
    try:
        masked = Layout.of(text, _TAGS).masked
    except StyleNotSupported:  # invalid tags are text
        masked = text
    return regex.sub(r"\p{Co}", lambda match: match[0] if match[0] == PHONE else " ", masked)


def _clause_units(clause: str, offset: int, main: Language, *, day_first: bool) -> Iterator[SpokenUnit]:
    language = Language.ENGLISH if main is Language.CHINESE and is_english_inset(clause) else main
    written = list(_written_units(clause, offset))
    if not any(not letter.isalpha() and not letter.isspace() for letter in clause) and not _HAN.search(clause):
        yield from written
        return
    # Pronunciation tokens are kept apart from the rules for words.
    spoken = [
        unit
        for part in regex.split(rf"({PHONE}+)", clause)
        for unit in _written_units(
            part if part.startswith(PHONE) else normalize(part, language, day_first=day_first).text, 0
        )
    ]
    yield from _placed(spoken, written, offset, offset + len(clause))


def _placed(spoken: list[SpokenUnit], written: list[SpokenUnit], start: int, end: int) -> Iterator[SpokenUnit]:
    """Yield the ``spoken`` units at the places of the ``written`` units that they stand for."""
    matcher = SequenceMatcher(None, [unit.text for unit in written], [unit.text for unit in spoken], autojunk=False)
    for kind, written_from, written_to, spoken_from, spoken_to in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and written_to - written_from == spoken_to - spoken_from):
            for place, unit in zip(written[written_from:written_to], spoken[spoken_from:spoken_to], strict=True):
                yield SpokenUnit(unit.text, place.start, place.end)
            continue
        left = written[written_from].start if written_from < written_to else _edge(written, written_from - 1, start)
        right = written[written_to - 1].end if written_from < written_to else _next(written, written_to, end)
        for unit in spoken[spoken_from:spoken_to]:
            yield SpokenUnit(unit.text, left, right)


def _edge(written: list[SpokenUnit], index: int, default: int) -> int:
    return written[index].end if index >= 0 else default


def _next(written: list[SpokenUnit], index: int, default: int) -> int:
    return written[index].start if index < len(written) else default


def _written_units(text: str, offset: int) -> Iterator[SpokenUnit]:
    for found in _UNIT.finditer(text):
        start, end = offset + found.start(), offset + found.end()
        if found["phones"]:
            yield SpokenUnit(UNKNOWN, start, end)
        else:
            yield SpokenUnit(_plain(found[0]), start, end)


def _plain(unit: str) -> str:
    if unit.isnumeric() and not _HAN.fullmatch(unit):
        return UNKNOWN
    plain = unicodedata.normalize("NFKC", unit).casefold().replace("’", "'")
    return simplified(_IGNORED_APOSTROPHE.sub("", plain))


def written_spans(units: tuple[SpokenUnit, ...]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of units that stand for the same written word, as (first, end) indices."""
    starts = [
        index
        for index, unit in enumerate(units)
        if index == 0 or (unit.start, unit.end) != (units[index - 1].start, units[index - 1].end)
    ]
    yield from pairwise([*starts, len(units)])
