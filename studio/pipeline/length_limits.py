"""How many speech tokens a sentence may plausibly have.

A language model that loops or leaves out a clause gives itself away by the length of its speech. Ordinary
speech, 25 tokens a second, was fitted by::

    tokens = 2.0 * phones + 11 * pause marks + 4

with the bundled studio-mini: 78 sentences, 5 voices and 3 seeds, 1,170 in all. Divided by that, and by the
pace of the voice's own prompt, 90 % lie between 0.85 and 1.56, the middle half between 0.97 and 1.14. The
limits ``CLOSE`` find 34 (2.9 %); 19 of them are of one voice, Miles. Styles
such as "slowly" and "fast" reach from 0.57 to 2.1. Examples:

==========================================================  ==============  ==========
sentence                                                    tokens          ratio
==========================================================  ==============  ==========
She sells sea shells by the sea shore. (Linda, seed 0)      157             3.1
How much wood would a woodchuck chuck ... (Miles, seed 0)   520             5.7
0 75554 26431355 30503565 (Ada, seed 2)                     1480 (59 s)     5.3
He said: "Do not touch that!", and everyone ... (Ada)       53 (a clause    0.56
                                                            is left out)
==========================================================  ==============  ==========

Decided: the limits follow from text and prompt alone, not from what was spoken before, because the same
request must sound the same whenever it is made. A lost word among ten is within the natural spread of
length and is not found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.pipeline.request import LengthVerdict, Mode, SynthesisRequest
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence
from studio.text.spoken_length import SpokenLength, spoken_length

_TOKENS_PER_PHONE = 2.0
_TOKENS_PER_PAUSE = 11.0
_TOKENS_PER_SENTENCE = 4.0
_MOST_TOKENS_PER_SOUND = 50.0  # two seconds for [laughter] or [breath]
# A prompt may be cut or its transcript wrong: beyond this its pace is not believed.
_SLOWEST_PACE, _FASTEST_PACE = 1.5, 0.7
# The released models' own rule: from 2 to 20 speech tokens for each text token.
_LEAST_PER_TEXT_TOKEN, _MOST_PER_TEXT_TOKEN = 2, 20
_EARLIEST_END = 0.5


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``shortest`` and ``longest`` times the expected length, and ``margin`` tokens more on both sides."""

    shortest: float
    longest: float
    shortest_margin: float
    longest_margin: float


# A small model whose pronunciations are known and that speaks at the pace of its prompt; see above.
CLOSE = Tolerance(shortest=0.65, longest=1.8, shortest_margin=3, longest_margin=12)
# The same model told how to speak, "slowly" for example, or without a transcript of the prompt.
LOOSE = Tolerance(shortest=0.4, longest=3.2, shortest_margin=5, longest_margin=25)
# Large models speak slowly, whisper, laugh and hesitate when asked to: true speech is never cut. In practice
# their own limit of 20 tokens for each text token is reached first.
WIDE = Tolerance(shortest=0.4, longest=5.0, shortest_margin=8, longest_margin=100)


@dataclass(frozen=True, slots=True)
class LengthLimits:
    """Speech tokens of a sentence: at most ``longest`` are made; ``shortest`` or fewer are not believed."""

    shortest: int
    expected: float
    longest: int

    @classmethod
    def of(
        cls, length: SpokenLength, tolerance: Tolerance, *, num_text_tokens: int, cost_model: float = 1.0
    ) -> LengthLimits:
        """``cost_model``: of the voice, from ``pace_of_prompt``."""
        fewest = _tokens(length.fewest_phones, length.pauses) * min(cost_model, 1.0)
        most = (
            _tokens(length.most_phones, length.pauses) * max(cost_model, 1.0) + _MOST_TOKENS_PER_SOUND * length.sounds
        )
        longest = int(tolerance.longest * most + tolerance.longest_margin)
        # Speech that ended as soon as it was allowed to, unless these are many text tokens for few phones.
        earliest_end = min(_LEAST_PER_TEXT_TOKEN * num_text_tokens, _EARLIEST_END * fewest)
        shortest = max(tolerance.shortest * fewest - tolerance.shortest_margin, earliest_end)
        return cls(
            shortest=int(shortest) if length.fewest_phones else -1,
            expected=(fewest + most) / 2,
            longest=min(longest, _MOST_PER_TEXT_TOKEN * num_text_tokens),
        )

    def verdict(self, num_tokens: int) -> LengthVerdict | None:
        """None for a plausible length."""
        if num_tokens >= self.longest > self.expected:
            return LengthVerdict.TOO_LONG
        return LengthVerdict.TOO_SHORT if num_tokens <= self.shortest else None

    def distance(self, num_tokens: int) -> float:
        """How far a length is from the expected one, alike for half of it and for twice as much."""
        return max((num_tokens + 1) / (self.expected + 1), (self.expected + 1) / (num_tokens + 1))


def pace_of_prompt(transcript: SpokenLength, num_prompt_tokens: int) -> float:
    """How slowly the voice of a clip speaks: 1 is usual, 1.2 takes a fifth longer."""
    phones = (transcript.fewest_phones + transcript.most_phones) / 2
    if not phones:
        return 1.0
    return min(_SLOWEST_PACE, max(_FASTEST_PACE, num_prompt_tokens / _tokens(phones, transcript.pauses)))


def limits_of_sentences(
    request: SynthesisRequest, respellings: Respellings | None, num_prompt_tokens: int
) -> Callable[[Sentence], LengthLimits]:
    """The limits of each sentence of ``request``. ``respellings``: the model's own pronunciation list."""
    continues_prompt = request.mode is Mode.ZERO_SHOT
    tolerance = WIDE if respellings is None else CLOSE if continues_prompt else LOOSE
    cost_model = 1.0
    if continues_prompt:
        cost_model = pace_of_prompt(spoken_length(request.voice.transcript or "", respellings), num_prompt_tokens)
    return lambda sentence: LengthLimits.of(
        spoken_length(sentence.spoken, respellings),
        tolerance,
        num_text_tokens=len(sentence.text_tokens),
        cost_model=cost_model,
    )


def _tokens(phones: float, pauses: int) -> float:
    return _TOKENS_PER_PHONE * phones + _TOKENS_PER_PAUSE * pauses + _TOKENS_PER_SENTENCE
