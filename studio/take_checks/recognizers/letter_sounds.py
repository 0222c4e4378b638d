"""Approximate pronunciations of English words that a lexicon lacks, such as names, in the phones of CMUdict.

A recogniser that aligns a text needs some pronunciation for each word. An approximate one suffices: the acoustic score
of such words is not compared with known words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Lookup = Callable[[str], str | None]

_SUFFIXES = (
    ("'s", "Z"), ("s'", ""), ("ing", "IH NG"), ("ed", "D"), ("er", "ER"), ("ers", "ER Z"), ("ly", "L IY"),
    ("ness", "N AH S"), ("less", "L AH S"), ("ish", "IH SH"), ("es", "IH Z"), ("s", "Z"), ("y", "IY"),
)  # fmt: skip
_PREFIXES = (("un", "AH N"), ("re", "R IY"), ("over", "OW V ER"), ("non", "N AA N"), ("mis", "M IH S"))
_MIN_PART = 3

# The first that matches counts: longer spellings come first.
_SPELLINGS = (
    ("tion", "SH AH N"), ("sion", "ZH AH N"), ("cious", "SH AH S"), ("eigh", "EY"), ("ough", "AO"), ("augh", "AO"),
    ("igh", "AY"), ("tch", "CH"), ("dge", "JH"), ("sch", "SH"), ("ear", "IH R"), ("air", "EH R"), ("oor", "AO R"),
    ("our", "AO R"), ("ier", "IH R"), ("ph", "F"), ("sh", "SH"), ("ch", "CH"), ("th", "TH"), ("ck", "K"), ("ng", "NG"),
    ("qu", "K W"), ("wh", "W"), ("wr", "R"), ("kn", "N"), ("gn", "N"), ("gh", "G"), ("ee", "IY"), ("ea", "IY"),
    ("oo", "UW"), ("ou", "AW"), ("ow", "OW"), ("oa", "OW"), ("ai", "EY"), ("ay", "EY"), ("oi", "OY"), ("oy", "OY"),
    ("au", "AO"), ("aw", "AO"), ("ie", "IY"), ("ei", "IY"), ("ey", "IY"), ("ew", "UW"), ("ue", "UW"), ("ui", "UW"),
    ("er", "ER"), ("ir", "ER"), ("ur", "ER"), ("ar", "AA R"), ("or", "AO R"), ("ce", "S EH"), ("ci", "S IH"),
    ("cy", "S IY"), ("ge", "JH EH"), ("gi", "JH IH"), ("x", "K S"), ("a", "AE"), ("b", "B"), ("c", "K"), ("d", "D"),
    ("e", "EH"), ("f", "F"), ("g", "G"), ("h", "HH"), ("i", "IH"), ("j", "JH"), ("k", "K"), ("l", "L"), ("m", "M"),
    ("n", "N"), ("o", "AA"), ("p", "P"), ("q", "K"), ("r", "R"), ("s", "S"), ("t", "T"), ("u", "AH"), ("v", "V"),
    ("w", "W"), ("z", "Z"),
)  # fmt: skip
_LONG_VOWELS = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW", "y": "AY"}
_LETTER_NAMES = {
    "a": "EY", "b": "B IY", "c": "S IY", "d": "D IY", "e": "IY", "f": "EH F", "g": "JH IY", "h": "EY CH", "i": "AY",
    "j": "JH EY", "k": "K EY", "l": "EH L", "m": "EH M", "n": "EH N", "o": "OW", "p": "P IY", "q": "K Y UW",
    "r": "AA R", "s": "EH S", "t": "T IY", "u": "Y UW", "v": "V IY", "w": "D AH B AH L Y UW", "x": "EH K S",
    "y": "W AY", "z": "Z IY",
}  # fmt: skip
_DOUBLED = re.compile(r"([bcdfgklmnprstvz])\1")
_SILENT_E = re.compile(r"([aeiouy])([bcdfgklmnprstvz]|th|ch)e\Z")
_SOFT = {"c": "S", "g": "JH", "s": "Z"}


def pronunciation(word: str, lookup: Lookup) -> str:
    """Return phones of ``word``, from the parts of it that ``lookup`` knows, or from its letters. Never empty."""
    plain = _plain(word)
    return lookup(plain) or _from_parts(plain, lookup) or _from_letters(plain) or "AH"


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold().replace("’", "'").replace("ß", "ss"))
    return "".join(letter for letter in decomposed if letter.isascii() and (letter.isalpha() or letter == "'"))


def _from_parts(word: str, lookup: Lookup) -> str | None:
    """Return the phones of a known word with an ending or a prefix, or of two known words in one."""
    for suffix, phones in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem == word or len(stem) < _MIN_PART:
            continue
        if known := lookup(stem) or lookup(stem + "e"):
            return f"{known} {phones}".strip()
    for prefix, phones in _PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) >= _MIN_PART and (known := lookup(rest)):
            return f"{phones} {known}"
    for cut in range(len(word) - _MIN_PART, _MIN_PART - 1, -1):
        first, second = lookup(word[:cut]), lookup(word[cut:])
        if first and second:
            return f"{first} {second}"
    return None


def _from_letters(word: str) -> str:
    if word and not set(word) & set("aeiouy"):
        return " ".join(_LETTER_NAMES[letter] for letter in word if letter != "'")
    word = _DOUBLED.sub(r"\1", word.replace("'", ""))
    ending = ""
    if found := _SILENT_E.search(word):
        vowel, consonant = found.groups()
        word = word[: found.start()]
        ending = f"{_LONG_VOWELS[vowel]} {_SOFT.get(consonant) or _from_letters_as_written(consonant)}"
    return f"{_from_letters_as_written(word)} {ending}".strip()


def _from_letters_as_written(word: str) -> str:
    phones: list[str] = []
    position = 0
    while position < len(word):
        if word[position] == "y":
            phones.append("Y" if position == 0 else "IY")
            position += 1
            continue
        spelling, sound = next(
            ((spelling, sound) for spelling, sound in _SPELLINGS if word.startswith(spelling, position)), ("?", "")
        )
        phones.append(sound)
        position += len(spelling)
    return " ".join(phone for phone in phones if phone)
