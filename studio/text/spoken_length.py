"""Number of phones and pauses of a text in spoken form.

The count is exact for words of the model's pronunciation list and otherwise a range, because spelling determines
the number of phones only roughly. ``studio.pipeline.length_limits`` derives plausible lengths of speech from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from studio.text.respellings import Respellings
from studio.text.special_tokens import PHONES

_PHONES = frozenset(PHONES)
_TAG = regex.compile(r"\[[^\[\]\s]{1,20}\]|</?[a-z]{1,12}>")
_CLOSING_TAG = "</"
_PAUSE_MARKS = regex.compile(r"[,.;:!?…—–،。，、；：！？．]+")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_CAPITALS = regex.compile(r"\p{Lu}{2,6}(?!\p{Ll})|\p{Lu}(?!\p{L})")
_LATIN_WORD = regex.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")

# Minimum and maximum number of phones per character.
_HAN = (2.0, 3.0)
_HAN_IN_JAPANESE = (2.0, 6.0)
_CHARACTERS = (
    (regex.compile(r"[\p{Hiragana}\p{Katakana}]"), (1.0, 2.0)),
    (regex.compile(r"\p{Hangul}"), (2.0, 3.0)),
    (regex.compile(r"\p{N}"), (2.0, 12.0)),  # in languages whose numbers are not spelled out
    (regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}]"), (0.5, 1.0)),
    (regex.compile(r"\p{L}"), (1.0, 3.0)),  # Arabic omits vowels, Thai letters may be syllables
    (regex.compile(r"[\p{S}@#%&*/]"), (0.0, 8.0)),
)
_SPELLED_LETTER = (2.0, 3.0)  # as in "BBC"
_PHONE_TOKEN = (1.0, 3.0)  # a pinyin final may have three


@dataclass(frozen=True, slots=True)
class SpokenLength:
    """Range of the number of phones, pauses at punctuation, and sounds such as ``[laughter]``."""

    fewest_phones: float = 0.0
    most_phones: float = 0.0
    pauses: int = 0
    sounds: int = 0


def spoken_length(spoken: str, respellings: Respellings | None = None) -> SpokenLength:
    """Return the length of ``spoken``, a result of ``prepare_text``."""
    fewest = most = 0.0
    sounds = 0
    for tag in _TAG.findall(spoken):
        if tag in _PHONES:
            fewest, most = fewest + _PHONE_TOKEN[0], most + _PHONE_TOKEN[1]
        elif not tag.startswith(_CLOSING_TAG):
            sounds += 1
    words = _TAG.sub(" ", spoken)
    pauses = len(_PAUSE_MARKS.findall(words))
    if respellings is not None:
        known, words = _take_known_words(words, respellings)
        fewest, most = fewest + known, most + known
    spelled = _CAPITALS.findall(words)
    num_spelled = sum(map(len, spelled))
    fewest, most = fewest + _SPELLED_LETTER[0] * num_spelled, most + _SPELLED_LETTER[1] * num_spelled
    in_characters = _count_characters(_CAPITALS.sub(" ", words))
    return SpokenLength(fewest + in_characters[0], most + in_characters[1], pauses, sounds)


def _take_known_words(words: str, respellings: Respellings) -> tuple[int, str]:
    """Return the number of phones of words in the list, and the text without these words."""
    num_phones = 0

    def take(match: regex.Match[str]) -> str:
        nonlocal num_phones
        spelled = respellings.of_word.get(match.group().lower().replace("’", "'"))
        if spelled is None:
            return match.group()
        num_phones += sum(character.isalpha() for character in spelled)
        return " "

    rest = _LATIN_WORD.sub(take, words)
    return num_phones, rest


def _count_characters(text: str) -> tuple[float, float]:
    fewest, most = (0.0, 0.0)
    han = _HAN_IN_JAPANESE if _KANA.search(text) else _HAN
    num_han = len(regex.findall(r"\p{Han}", text))
    fewest, most = han[0] * num_han, han[1] * num_han
    rest = regex.sub(r"\p{Han}", "", text)
    for pattern, (least, greatest) in _CHARACTERS:
        found = len(pattern.findall(rest))
        fewest, most = fewest + least * found, most + greatest * found
        rest = pattern.sub("", rest)
    return fewest, most
