"""Whether two spellings sound alike, for names and for homophones that a recogniser cannot tell apart."""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache

import regex

from studio.text.chinese_reading import syllables
from studio.text.pinyin import HAN

# Spellings of the same or similar sounds in European languages. Longer spellings come first.
_SAME_SOUND = tuple(
    (regex.compile(pattern), sound)
    for pattern, sound in (
        (r"tch|[sc]h|sch|[cs](?=i[aeou])", "x"), (r"ph|v|w(?=[aeiou])", "f"), (r"ck|c(?![eiy])|q|g|k", "k"),
        (r"x", "ks"), (r"[cz]", "s"), (r"j|dge?", "x"), (r"th|d", "t"), (r"b", "p"), (r"wr", "r"), (r"kn|gn", "n"),
        (r"[hw]", ""), (r"\Ay", "i"), (r"(?<=.)[aeiouy]+", ""), (r"\A[eiouy]", "a"), (r"(.)\1+", r"\1"),
    )
)  # fmt: skip
_MIN_LIKENESS = 0.75


@lru_cache(maxsize=8192)
def sound_alike(first: str, second: str) -> bool:
    """Return whether two words or phrases in lower case probably sound alike."""
    if first == second:
        return True
    if not first or not second:
        return False
    if HAN.search(first) or HAN.search(second):
        return _pinyin(first) == _pinyin(second)
    first_key, second_key = sound_key(first), sound_key(second)
    if min(len(first_key), len(second_key)) < 2:
        return first_key == second_key and first[0] == second[0]
    return SequenceMatcher(None, first_key, second_key, autojunk=False).ratio() >= _MIN_LIKENESS


@lru_cache(maxsize=8192)
def sound_key(word: str) -> str:
    """Return the consonants of ``word``, with one letter for all spellings of a sound."""
    decomposed = unicodedata.normalize("NFKD", word)
    key = "".join(letter for letter in decomposed if letter.isalpha())
    for pattern, sound in _SAME_SOUND:
        key = pattern.sub(sound, key)
    return key


def _pinyin(text: str) -> list[str]:
    """Return the syllables of ``text`` without tones."""
    return HAN.sub(lambda found: " ".join(each.rstrip("12345") for each in syllables(found[0])), text).split()
