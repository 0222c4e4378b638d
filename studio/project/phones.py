"""Parser of typed pronunciations into the phone tokens of Fun-CosyVoice3.

Accepts pinyin with tone numbers or tone marks (``chong2 qing4``, ``chóng qìng``), ARPAbet in capitals with stress
numbers (``W AY1 N D``), and the tokens themselves (``[j][ǐ]``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

from studio.errors import BadPronunciation
from studio.text.tags import PHONES

_KNOWN = frozenset(PHONES)
_TOKENS = regex.compile(r"(?:\s*\[[^\[\]\s]+\])+\s*")
_TOKEN = regex.compile(r"\[[^\[\]\s]+\]")
_ARPABET = regex.compile(r"[A-Z]{1,2}[0-2]?")
_SYLLABLE = regex.compile(r"(?P<letters>[a-zü]+)(?P<tone>[0-5])?")
_BETWEEN_SYLLABLES = regex.compile(r"[\s'’·,-]+|(?<=\d)(?=\D)")
_INITIAL = regex.compile(r"(?:[zcs]h|[bpmfdtnlgkhjqxrzcsyw])?")
_TONE_MARKS = {"1": "\u0304", "2": "\u0301", "3": "\u030c", "4": "\u0300"}
_TONE_OF_MARK = {mark: tone for tone, mark in _TONE_MARKS.items()}
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
    initial = _INITIAL.match(match["letters"])
    assert initial is not None, "the initial may be empty"
    final = match["letters"][initial.end() :]
    if not final:
        raise BadPronunciation("“{syllable}” has no vowel.", remedy=_REMEDY, syllable=syllable)
    if initial[0]:
        yield f"[{initial[0]}]"
    yield f"[{_with_tone_mark(_as_written_after(initial[0], final), tone or match['tone'] or '5')}]"


def _as_written_after(initial: str, final: str) -> str:
    """Return ``final`` as it is written in the phones: ü becomes u after j, q, x and y, and otherwise v before e."""
    if initial in ("j", "q", "x", "y"):
        return final.replace("ü", "u")
    return final.replace("üe", "ve")


def _without_tone_mark(syllable: str) -> tuple[str, str]:
    tone = ""
    letters = []
    for letter in unicodedata.normalize("NFD", syllable):
        if letter in _TONE_OF_MARK and not tone:
            tone = _TONE_OF_MARK[letter]
        else:
            letters.append(letter)
    return unicodedata.normalize("NFC", "".join(letters)), tone


def _with_tone_mark(final: str, tone: str) -> str:
    if tone not in _TONE_MARKS:
        return final
    at = next((final.index(vowel) for vowel in ("a", "e", "ou") if vowel in final), None)
    if at is None:
        at = max(final.rfind(vowel) for vowel in "iouü")
    if at < 0:
        raise BadPronunciation("“{final}” has no vowel.", remedy=_REMEDY, final=final)
    return unicodedata.normalize("NFC", final[: at + 1] + _TONE_MARKS[tone] + final[at + 1 :])
