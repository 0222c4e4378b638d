"""Mandarin syllables: their tone marks, and the phone tokens of Fun-CosyVoice3 for them."""

from __future__ import annotations

import unicodedata
from functools import cache

import regex

from studio.text.tags import PHONES

HAN = regex.compile(r"\p{Han}+")
_KNOWN = frozenset(PHONES)
_INITIAL = regex.compile(r"(?:[zcs]h|[bpmfdtnlgkhjqxrzcsyw])?")
_SYLLABLE = regex.compile(r"([a-zü]+)([1-5])")
_TOKEN = regex.compile(r"\[([^\[\]]+)\]")
_TONE = regex.compile("[\u0300\u0301\u0304\u030c]")
_TONE_MARKS = {"1": "\u0304", "2": "\u0301", "3": "\u030c", "4": "\u0300"}
# Tones that replace a missing one: the models have no token for the neutral tone of every final.
_OTHER_TONES = "54123"


def syllable_parts(letters: str, tone: str) -> tuple[str, str]:
    """Return the initial, which may be empty, and the final with its tone mark. Tone 5 has no mark.

    Raise ``ValueError`` for letters without a vowel.
    """
    initial = _INITIAL.match(letters)
    assert initial is not None, "the initial may be empty"
    final = letters[initial.end() :]
    return initial[0], _marked(_as_written_after(initial[0], final), tone)


def with_tone_mark(syllable: str) -> str:
    """Return a syllable such as "hao3" as "hǎo". One without a vowel or a tone is returned as it is."""
    match = _SYLLABLE.fullmatch(syllable)
    if match is None:
        return syllable
    try:
        return _marked(match[1], match[2])
    except ValueError:
        return match[1]


@cache
def syllable_tokens(syllable: str) -> tuple[str, ...]:
    """Return the tokens of a syllable such as "hao3", or an empty tuple if the models have none for it.

    A tone that is missing is replaced by another one.
    """
    match = _SYLLABLE.fullmatch(syllable)
    if match is None:
        return ()
    for tone in (match[2], *_OTHER_TONES):
        try:
            initial, final = syllable_parts(match[1], tone)
        except ValueError:
            return ()
        tokens = tuple(f"[{part}]" for part in (initial, final) if part)
        if _KNOWN.issuperset(tokens):
            return tokens
    return ()


def syllables_of_tokens(tokens: str) -> list[str]:
    """Return the syllables of Mandarin phone tokens, without tones: ["hao"] for "[h][ǎo]". English phones are left out."""
    found = []
    initial = ""
    for name in _TOKEN.findall(tokens):
        plain = unicodedata.normalize("NFC", _TONE.sub("", unicodedata.normalize("NFD", name)))
        if not plain.islower():
            continue
        if _INITIAL.fullmatch(plain):
            initial = plain
        else:
            found.append(initial + ("üe" if plain == "ve" else plain))
            initial = ""
    return found


def _as_written_after(initial: str, final: str) -> str:
    """Return ``final`` as it is written in the phones: ü becomes u after j, q, x and y, and otherwise v before e."""
    if initial in ("j", "q", "x", "y"):
        return final.replace("ü", "u")
    return final.replace("üe", "ve")


def _marked(final: str, tone: str) -> str:
    if tone not in _TONE_MARKS:
        return final
    at = next((final.index(vowel) for vowel in ("a", "e", "ou") if vowel in final), None)
    if at is None:
        at = max(final.rfind(vowel) for vowel in "iouü")
    if at < 0:
        raise ValueError(final)
    return unicodedata.normalize("NFC", final[: at + 1] + _TONE_MARKS[tone] + final[at + 1 :])
