"""Plausible numbers of speech tokens for a sentence, from the numbers of its phones and pauses.

The number of phones is exact for words of the model's pronunciation list, and otherwise a range, because spelling
determines it only roughly.

An implausible length reveals a language model that loops or omits a clause. Ordinary speech at 25 tokens per
second was fitted with::

    tokens = 2.0 * phones + 11 * pause marks + 4

to 1,170 results of the bundled studio-mini (78 sentences, 5 voices, 3 seeds). The ratio of the actual number of
tokens to this one, divided by the pace of the voice's prompt, is between 0.85 and 1.56 for 90 % of the results, and
between 0.97 and 1.14 for the middle half. The limits ``CLOSE`` reject 34 results (2.9 %), 19 of them of one voice,
Miles. With styles such as "slowly" and "fast", the ratio ranges from 0.57 to 2.1. Examples:

==========================================================  ==============  ==========
sentence                                                    tokens          ratio
==========================================================  ==============  ==========
She sells sea shells by the sea shore. (Linda, seed 0)      157             3.1
How much wood would a woodchuck chuck ... (Miles, seed 0)   520             5.7
0 75554 26431355 30503565 (Ada, seed 2)                     1480 (59 s)     5.3
He said: "Do not touch that!", and everyone ... (Ada)       53 (a clause    0.56
                                                            is missing)
==========================================================  ==============  ==========

Decision: limits depend on text and prompt alone, not on earlier sentences. Reason: the same request must always
produce the same audio. One missing word among ten is within the natural variation and is not detected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import regex

from studio.pipeline.request import LengthVerdict, Mode, SynthesisRequest
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence
from studio.text.tags import PHONES

_FITTED_RATE = 25  # tokens per second, to which the following numbers of tokens apply
_TOKENS_PER_PHONE = 2.0
_TOKENS_PER_PAUSE = 11.0
_TOKENS_PER_SENTENCE = 4.0
_MAX_TOKENS_PER_SOUND = 50.0  # two seconds for [laughter] or [breath]
# Limits on the pace, since a prompt may be cut off or have a wrong transcript.
_MIN_PACE, _MAX_PACE = 1.5, 0.7
# The released models generate 2 to 20 speech tokens per text token.
_MIN_PER_TEXT_TOKEN, _MAX_PER_TEXT_TOKEN = 2, 20
_EARLIEST_END = 0.5

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
class Tolerance:
    """Limits relative to the expected length, each with an additional margin in tokens."""

    shortest: float
    longest: float
    shortest_margin: float
    longest_margin: float


# For a small model with known pronunciations at the pace of its prompt; see above.
CLOSE = Tolerance(shortest=0.65, longest=1.8, shortest_margin=3, longest_margin=12)
# For the same model with a style such as "slowly", or without a transcript of the prompt.
LOOSE = Tolerance(shortest=0.4, longest=3.2, shortest_margin=5, longest_margin=25)
# Large models can speak slowly, whisper, laugh and hesitate, and valid speech must not be cut. In practice their
# own limit of 20 tokens per text token is reached first.
WIDE = Tolerance(shortest=0.4, longest=5.0, shortest_margin=8, longest_margin=100)


@dataclass(frozen=True, slots=True)
class LengthLimits:
    """Limits in speech tokens. At most ``longest`` are generated; ``shortest`` or fewer are implausible."""

    shortest: int
    expected: float
    longest: int

    @classmethod
    def of(
        cls,
        length: SpokenLength,
        tolerance: Tolerance,
        *,
        num_text_tokens: int,
        pace: float = 1.0,
        token_rate: int = _FITTED_RATE,
    ) -> LengthLimits:
        """Return the limits for a spoken length. ``pace`` is the pace of the voice, from ``pace_of_prompt``."""
        scale = token_rate / _FITTED_RATE
        fewest = _tokens(length.fewest_phones, length.pauses) * min(pace, 1.0)
        most = _tokens(length.most_phones, length.pauses) * max(pace, 1.0) + _MAX_TOKENS_PER_SOUND * length.sounds
        longest = int(scale * (tolerance.longest * most + tolerance.longest_margin))
        # Speech that ends as soon as allowed is too short, unless there are many text tokens for few phones.
        earliest_end = min(_MIN_PER_TEXT_TOKEN * num_text_tokens, _EARLIEST_END * scale * fewest)
        shortest = max(scale * (tolerance.shortest * fewest - tolerance.shortest_margin), earliest_end)
        return cls(
            shortest=int(shortest) if length.fewest_phones else -1,
            expected=scale * (fewest + most) / 2,
            longest=min(longest, _MAX_PER_TEXT_TOKEN * num_text_tokens),
        )

    def verdict(self, num_tokens: int) -> LengthVerdict | None:
        """Return None for a plausible length."""
        if num_tokens >= self.longest > self.expected:
            return LengthVerdict.TOO_LONG
        return LengthVerdict.TOO_SHORT if num_tokens <= self.shortest else None

    def distance(self, num_tokens: int) -> float:
        """Return the factor by which a sentence is too long or too short: 2 for half and for twice the expected length."""
        return max((num_tokens + 1) / (self.expected + 1), (self.expected + 1) / (num_tokens + 1))


def pace_of_prompt(transcript: SpokenLength, num_prompt_tokens: int) -> float:
    """Return the relative duration of a voice's speech: 1 is average, and 1.2 takes 20 % longer."""
    phones = (transcript.fewest_phones + transcript.most_phones) / 2
    if not phones:
        return 1.0
    return min(_MIN_PACE, max(_MAX_PACE, num_prompt_tokens / _tokens(phones, transcript.pauses)))


def limits_of_sentences(
    request: SynthesisRequest,
    respellings: Respellings | None,
    num_prompt_tokens: int,
    token_rate: int = _FITTED_RATE,
) -> Callable[[Sentence], LengthLimits]:
    """Return a function that returns the limits of a sentence of ``request``.

    ``respellings`` is the pronunciation list of the model, and ``token_rate`` its speech tokens per second.
    """
    continues_prompt = request.mode is Mode.ZERO_SHOT
    tolerance = WIDE if respellings is None else CLOSE if continues_prompt else LOOSE
    pace = 1.0
    if continues_prompt:
        pace = pace_of_prompt(
            spoken_length(request.voice.transcript or "", respellings), num_prompt_tokens * _FITTED_RATE // token_rate
        )
    return lambda sentence: LengthLimits.of(
        spoken_length(sentence.spoken, respellings),
        tolerance,
        num_text_tokens=len(sentence.text_tokens),
        pace=pace,
        token_rate=token_rate,
    )


def _tokens(phones: float, pauses: int) -> float:
    return _TOKENS_PER_PHONE * phones + _TOKENS_PER_PAUSE * pauses + _TOKENS_PER_SENTENCE


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
