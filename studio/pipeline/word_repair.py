"""Speaking part of a sentence again, between speech tokens that are kept.

The language model is led through the kept tokens before the part, and continues in several ways. Each continuation is
cut where the kept tokens after the part follow best: the model's own probability of these tokens decides both the cut
and the choice among the continuations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.torch_lm import CachedSpeechLM, LMCache, speech_token_limits
from studio.model.stages import SpeechTokenRequest
from studio.pipeline.request import RequestControl

_NUM_CONTINUATIONS = 4
# Time after the part whose probability is compared, and by how much the new part may be longer than the old one.
_COMPARED_SECONDS = 0.5
_LONGER = 1.6
_LONGER_SECONDS = 0.6


@dataclass(frozen=True, slots=True)
class Continuation:
    """New tokens, and how well the kept ones follow: the mean logarithm of their probability."""

    tokens: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class WordRepair:
    """Speaks what is missing between two parts of a sentence.

    Attributes:
        request: The whole sentence.
        before, after: The kept tokens.
        num_replaced: The number of tokens between them in the earlier reading.
    """

    speech_lm: CachedSpeechLM[Any]
    request: SpeechTokenRequest
    before: tuple[int, ...]
    after: tuple[int, ...]
    num_replaced: int
    token_rate: int
    control: RequestControl

    def speak(self, make_sampler: Callable[[int], RepetitionAwareSampler]) -> list[int]:
        """Return the tokens of the whole sentence. ``make_sampler`` receives the number of the continuation.

        Raise ``Cancelled`` and ``SequenceTooLong``.
        """
        best = max(self._continuations(make_sampler), key=lambda each: each.score)
        return [*self.before, *best.tokens, *self.after]

    @torch.inference_mode()
    def _continuations(self, make_sampler: Callable[[int], RepetitionAwareSampler]) -> Iterator[Continuation]:
        compared = self.after[: round(_COMPARED_SECONDS * self.token_rate)]
        led = replace(
            self.request,
            prompt_speech_tokens=(*self.request.prompt_speech_tokens, *self.before),
            min_tokens=1,
            max_tokens=self._max_tokens() + len(compared),
            attention=None,
        )
        _, most, length = self.speech_lm.lengths(led)
        most = max(1, most - len(compared))
        cache = self.speech_lm.open_cache(length)
        embeddings = self.speech_lm.begin(led, cache)
        last = embeddings[-1:]
        if len(embeddings) > 1:
            self.speech_lm.hidden_states(embeddings[:-1], cache)
        start = cache.length
        for index in range(_NUM_CONTINUATIONS):
            self.control.raise_if_cancelled()
            cache.length = start
            generated = self.speech_lm.generate_to_end(
                last, cache, make_sampler(index), list(self.before), min_tokens=1, max_tokens=most
            )
            tokens = tuple(generated)
            if not compared:  # the model ends the sentence
                yield Continuation(tokens, -len(tokens))
                if len(tokens) < most:
                    return
                continue
            # From the longest to the shortest, because each comparison overwrites the positions after its cut.
            for cut in range(len(tokens), 0, -1):
                cache.length = start + cut
                yield Continuation(tokens[:cut], self._score(tokens[cut - 1], compared, cache))

    def _max_tokens(self) -> int:
        """Return the maximum number of new tokens; as for a whole sentence if nothing follows."""
        if not self.after:
            return max(1, speech_token_limits(self.request, len(self.request.text_tokens))[1] - len(self.before))
        return round(_LONGER * self.num_replaced + _LONGER_SECONDS * self.token_rate)

    def _score(self, last: int, compared: Sequence[int], cache: LMCache) -> float:
        """Return the mean logarithm of the probability of ``compared`` after ``last``, which follows ``cache``."""
        hidden = self.speech_lm.hidden_states(self.speech_lm.embed_speech((last, *compared[:-1])), cache)
        scores = self.speech_lm.head(hidden).float().log_softmax(dim=1)
        wanted = torch.tensor(compared, device=scores.device)[:, None]
        return float(scores.gather(1, wanted).mean())
