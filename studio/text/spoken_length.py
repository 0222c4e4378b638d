"""Number of phones and pauses of a text in spoken form.

The number of phones is exact for words of the model's pronunciation list, and otherwise a range, because spelling
determines it only roughly. ``studio.pipeline.length_limits`` derives plausible lengths of speech from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from studio.text.respellings import Respellings
from studio.text.tags import PHONES

_PHONES = frozenset(PHONES)
_TAG = regex.compile(r"\[[^\[\]\s]{1,20}\]|</?[a-z]{1,12}>")
_CLOSING_TAG = "</"
_PAUSE_MARKS = regex.compile(r"[,.;:!?…—–،。，、；：！？．]+")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_CAPITALS = regex.compile(r"\p{Lu}{2,6}(?!\p{Ll})|\p{Lu}(?!\p{L})")
_LATIN_WORD = regex.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")

# Minimum and maximum number of phones per character. Han comes first; Japanese readings may be longer.
_HAN = regex.compile(r"\p{Han}")
_HAN_PHONES, _HAN_PHONES_IN_JAPANESE = (2.0, 3.0), (2.0, 6.0)
_CHARACTERS = (
    (regex.compile(r"[\p{Hiragana}\p{Katakana}]"), (1.0, 2.0)),
    (regex.compile(r"\p{Hangul}"), (2.0, 3.0)),
    (regex.compile(r"\p{N}"), (2.0, 12.0)),  # digits in languages whose numbers are not spelled out
    (regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}]"), (0.5, 1.0)),
    (regex.compile(r"\p{L}"), (1.0, 3.0)),  # Arabic omits vowels, Thai letters may be syllables
    (regex.compile(r"[\p{S}@#%&*/]"), (0.0, 8.0)),
)
_SPELLED_LETTER = (2.0, 3.0)  # letters read by name, as in "BBC"
_PHONE_TOKEN = (1.0, 3.0)  # a pinyin final may have three


@dataclass(frozen=True, slots=True)
class SpokenLength:
    """Range of the number of phones, and numbers of pauses and sounds."""

    fewest_phones: float = 0.0
    most_phones: float = 0.0
    pauses: int = 0  # number of pauses at punctuation
    sounds: int = 0  # tags such as ``[laughter]``


def spoken_length(spoken: str, respellings: Respellings | None = None) -> SpokenLength:
    """Return the length of ``spoken``, a result of ``prepare_text``."""
    fewest = most = 0.0

    def count(found: float, phones: tuple[float, float]) -> None:
        nonlocal fewest, most
        fewest += phones[0] * found
        most += phones[1] * found

    tags = _TAG.findall(spoken)
    num_phone_tokens = sum(tag in _PHONES for tag in tags)
    count(num_phone_tokens, _PHONE_TOKEN)
    num_closing_tags = sum(tag.startswith(_CLOSING_TAG) for tag in tags)
    text = _TAG.sub(" ", spoken)
    num_pauses = len(_PAUSE_MARKS.findall(text))
    if respellings is not None:
        num_known, text = _take_known_words(text, respellings)
        count(num_known, (1.0, 1.0))
    han_phones = _HAN_PHONES_IN_JAPANESE if _KANA.search(text) else _HAN_PHONES
    for pattern, phones in ((_CAPITALS, _SPELLED_LETTER), (_HAN, han_phones), *_CHARACTERS):
        count(sum(map(len, pattern.findall(text))), phones)
        text = pattern.sub(" ", text)
    return SpokenLength(fewest, most, num_pauses, len(tags) - num_phone_tokens - num_closing_tags)


def _take_known_words(text: str, respellings: Respellings) -> tuple[int, str]:
    """Return the number of phones of words in the list, and ``text`` without these words."""
    num_phones = 0

    def take(match: regex.Match[str]) -> str:
        nonlocal num_phones
        spelled = respellings.of_word.get(match.group().lower().replace("’", "'"))
        if spelled is None:
            return match.group()
        num_phones += sum(character.isalpha() for character in spelled)
        return " "

    rest = _LATIN_WORD.sub(take, text)
    return num_phones, rest
