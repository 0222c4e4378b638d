"""Parser of typed pronunciations into the phone tokens of Fun-CosyVoice3.

Accepts pinyin with tone numbers or tone marks (``chong2 qing4``, ``chóng qìng``), ARPAbet in capitals with stress
numbers (``W AY1 N D``), and the tokens themselves (``[j][ǐ]``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

from studio.errors import BadPronunciation
from studio.text.pinyin import syllable_parts
from studio.text.tags import PHONES

_KNOWN = frozenset(PHONES)
_TOKENS = regex.compile(r"(?:\s*\[[^\[\]\s]+\])+\s*")
_TOKEN = regex.compile(r"\[[^\[\]\s]+\]")
_ARPABET = regex.compile(r"[A-Z]{1,2}[0-2]?")
_SYLLABLE = regex.compile(r"(?P<letters>[a-zü]+)(?P<tone>[0-5])?")
_BETWEEN_SYLLABLES = regex.compile(r"[\s'’·,-]+|(?<=\d)(?=\D)")
_TONE_OF_MARK = {"\u0304": "1", "\u0301": "2", "\u030c": "3", "\u0300": "4"}
_HAS_TONE = regex.compile(r"\d|[^\x00-\x7f]")
_MAX_PHONES = 200
_REMEDY = "Enter pinyin such as chong2 qing4, or ARPAbet such as W AY1 N D."


def phone_tokens(pronunciation: str) -> str:
    """Return the concatenated tokens of ``pronunciation``. Raise ``BadPronunciation``."""
    typed = unicodedata.normalize("NFC", pronunciation.strip())
    if not typed or len(typed) > _MAX_PHONES:
        raise BadPronunciation("A pronunciation must have 1 to 200 letters.", remedy=_REMEDY)
    tokens = list(_tokens(typed))
    for token in tokens:
        if token not in _KNOWN:
            raise BadPronunciation(
                "The models have no phone {token}, which “{typed}” requires.", remedy=_REMEDY, token=token, typed=typed
            )
    if len(tokens) == 1 and not _HAS_TONE.search(tokens[0]):
        raise BadPronunciation(
            "“{typed}” alone would be read as a letter.",
            remedy="Add a tone or stress number, or use an alias.",
            typed=typed,
        )
    return "".join(tokens)


def _tokens(typed: str) -> Iterator[str]:
    if _TOKENS.fullmatch(typed):
        yield from _TOKEN.findall(typed)
        return
    words = typed.split()
    if all(_ARPABET.fullmatch(word) and f"[{word}]" in _KNOWN for word in words):
        yield from (f"[{word}]" for word in words)
        return
    for syllable in _BETWEEN_SYLLABLES.split(typed.lower()):
        if syllable:
            yield from _syllable_tokens(syllable)


def _syllable_tokens(syllable: str) -> Iterator[str]:
    plain, tone = _without_tone_mark(syllable)
    match = _SYLLABLE.fullmatch(plain.replace("u:", "ü").replace("v", "ü"))
    if match is None or (tone and match["tone"]):
        raise BadPronunciation("“{syllable}” is not a syllable in pinyin.", remedy=_REMEDY, syllable=syllable)
    try:
        initial, final = syllable_parts(match["letters"], tone or match["tone"] or "5")
    except ValueError:
        final = ""
    if not final:
        raise BadPronunciation("“{syllable}” has no vowel.", remedy=_REMEDY, syllable=syllable)
    if initial:
        yield f"[{initial}]"
    yield f"[{final}]"


def _without_tone_mark(syllable: str) -> tuple[str, str]:
    tone = ""
    letters = []
    for letter in unicodedata.normalize("NFD", syllable):
        if letter in _TONE_OF_MARK and not tone:
            tone = _TONE_OF_MARK[letter]
        else:
            letters.append(letter)
    return unicodedata.normalize("NFC", "".join(letters)), tone
