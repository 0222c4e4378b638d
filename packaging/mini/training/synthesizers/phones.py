"""A common phone inventory for all synthesizers and accents, and mappings from their phone names.

Decision: a diphthong is written as its first and last vowel. Reason: labels then describe the sound of each 20 ms,
accents have different labels, and fewer pairs cover the language. Alternative: a separate label for each diphthong.
"""

from __future__ import annotations

import unicodedata

SILENCE_LABEL = "sil"
_CONSONANTS = [
    "p",
    "b",
    "t",
    "d",
    "k",
    "g",
    "ch",
    "jh",
    "f",
    "v",
    "th",
    "dh",
    "s",
    "z",
    "sh",
    "zh",
    "hh",
    "m",
    "n",
    "ng",
    "l",
    "r",
    "rr",
    "w",
    "y",
    "dx",
    "q",
]
_VOWELS = ["iy", "ih", "e", "eh", "ae", "a", "aa", "oo", "ao", "o", "uh", "uw", "ux", "ah", "ax", "ac", "er", "eu"]
LABELS: tuple[str, ...] = (SILENCE_LABEL, *_CONSONANTS, *_VOWELS)
NUMBER_OF_LABEL = {label: number for number, label in enumerate(LABELS)}
SILENCE = NUMBER_OF_LABEL[SILENCE_LABEL]
VOWELS = frozenset(NUMBER_OF_LABEL[label] for label in _VOWELS)
# Stops, whose closure is silent.
STOPS = frozenset(NUMBER_OF_LABEL[label] for label in ["p", "b", "t", "d", "k", "g", "ch", "jh", "q"])

# Symbols of the International Phonetic Alphabet, without length and diacritics.
_LABEL_OF_SYMBOL = {
    "p": "p", "b": "b", "t": "t", "d": "d", "k": "k", "g": "g", "ɡ": "g", "f": "f", "v": "v", "θ": "th", "ð": "dh",
    "s": "s", "z": "z", "ʃ": "sh", "ʒ": "zh", "h": "hh", "x": "hh", "ɦ": "hh", "m": "m", "n": "n",
    "ɲ": "n", "ŋ": "ng", "l": "l", "ɫ": "l", "ɬ": "l", "ɹ": "r", "r": "rr", "w": "w", "ʍ": "w", "j": "y", "ɾ": "dx",
    "ʔ": "q",
    "i": "iy", "ɪ": "ih", "ᵻ": "ih", "ɨ": "ih", "e": "e", "ɛ": "eh", "æ": "ae", "a": "a", "ɑ": "aa", "ɒ": "oo",
    "ɔ": "ao", "o": "o", "ɵ": "o", "ʊ": "uh", "u": "uw", "ʉ": "ux", "ʌ": "ah", "ə": "ax", "ɐ": "ac", "ɚ": "er",
    "ɝ": "er", "ɜ": "eu",
}  # fmt: skip
_LABEL_OF_DIGRAPH = {"tʃ": "ch", "dʒ": "jh"}
# Accents in which a symbol is pronounced differently.
_LABEL_IN_ACCENT = {("en-us", "ɜ"): "er"}

# Phone names of flite's American voices, with two labels for diphthongs.
_LABELS_OF_RADIO_PHONE = {
    "pau": "sil", "h#": "sil", "brth": "sil", "ssil": "sil",
    "aw": "a uh", "ay": "a ih", "ey": "e ih", "ow": "o uh", "oy": "ao ih", "axr": "er", "el": "ax l", "em": "ax m",
    "en": "ax n", "hv": "hh", "nx": "n",
}  # fmt: skip

Timed = tuple[tuple[int, float], ...]  # label number and its share of the phone's duration


class UnknownPhone(ValueError):
    """A synthesizer used a phone name that is missing in the tables."""


def of_ipa(name: str, accent: str) -> Timed:
    """Return the labels of an eSpeak phone, given in IPA with stress, length and separators."""
    plain = "".join(
        symbol
        for symbol in unicodedata.normalize("NFD", name.replace("ç", "h"))
        if not unicodedata.combining(symbol) and symbol not in _MARKS
    )
    labels: list[str] = []
    position = 0
    while position < len(plain):
        digraph = plain[position : position + 2]
        if digraph in _LABEL_OF_DIGRAPH:
            labels.append(_LABEL_OF_DIGRAPH[digraph])
            position += 2
            continue
        symbol = plain[position]
        if symbol not in _LABEL_OF_SYMBOL:
            raise UnknownPhone(f"No label for {symbol!r} of the phone {name!r} ({accent}).")
        labels.append(_LABEL_IN_ACCENT.get((accent, symbol), _LABEL_OF_SYMBOL[symbol]))
        position += 1
    return _timed(labels or [SILENCE_LABEL])


def of_radio(name: str) -> Timed:
    """Return the labels of a phone of flite's American voices."""
    labels = _LABELS_OF_RADIO_PHONE.get(name, name).split()
    unknown = [label for label in labels if label not in NUMBER_OF_LABEL]
    if unknown:
        raise UnknownPhone(f"No label for the phone {name!r}.")
    return _timed(labels)


_MARKS = "˞ˈˌːˑ:|ʲʰ‿ \u200d'_-.*#0123456789"
_FIRST_LASTS_LONGER = 1.25


def _timed(labels: list[str]) -> Timed:
    weights = [_FIRST_LASTS_LONGER] + [1.0] * (len(labels) - 1)
    return tuple((NUMBER_OF_LABEL[label], weight / sum(weights)) for label, weight in zip(labels, weights, strict=True))
