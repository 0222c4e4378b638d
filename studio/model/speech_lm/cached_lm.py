"""Generation of speech tokens with a key/value cache, common to all networks (specification E2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import torch

from studio.model.config import AnySpeechLMConfig, SpeechTokenLayout
from studio.model.options import SamplingOptions
from studio.model.speech_lm.linear import Linear
from studio.model.stages import SpeechTokenRequest, TokenSampler

_MIN_SPEECH_PER_TEXT_TOKEN = 2
_MAX_SPEECH_PER_TEXT_TOKEN = 20
CacheT = TypeVar("CacheT")


class CachedSpeechLM(ABC, Generic[CacheT]):
    """A speech language model that computes one token at a time from ``CacheT``, the state of an utterance."""

    config: AnySpeechLMConfig

    def __init__(self, layout: SpeechTokenLayout, sampling: SamplingOptions, head: Linear, engine: str) -> None:
        self._layout = layout
        self.sampling = sampling
        self.engine = engine
        self.max_concurrent_lines = 1  # concurrent lines would not be faster, since each reads all weights
        self.head = head

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``stages.SpeechLM``. Tokens are computed on demand, but ``SequenceTooLong`` is raised at once."""
        min_tokens, max_tokens, length = self.lengths(request)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

    @abstractmethod
    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        """Return the minimum and maximum number of speech tokens and the sequence length. Raise ``SequenceTooLong``."""

    @abstractmethod
    def open_cache(self, capacity: int) -> CacheT: ...

    @abstractmethod
    def begin(self, request: SpeechTokenRequest, cache: CacheT) -> torch.Tensor:
        """Fill an empty ``cache`` with what all sentences of a voice share. Return the rest of the input (tokens, hidden)."""

    def end(self, request: SpeechTokenRequest, cache: CacheT) -> None:
        """Called when generation ends or is closed."""

    @abstractmethod
    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return (len(tokens), hidden)."""

    @abstractmethod
    def hidden_states(self, embeddings: torch.Tensor, cache: CacheT) -> torch.Tensor:
        """Append ``embeddings`` (tokens, hidden) to ``cache`` and return the states after the final norm."""

    def advance(self, embeddings: torch.Tensor, cache: CacheT) -> torch.Tensor:
        """Append ``embeddings`` (tokens, hidden) to ``cache`` and return the logits (head_rows,) of the next token."""
        return self._score(self.hidden_states(embeddings, cache)[-1:])[0]

    @torch.inference_mode()
    def _score(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden)

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        cache = self.open_cache(length)
        embeddings = self.begin(request, cache)
        tokens = self.generate_to_end(embeddings, cache, sampler, [], min_tokens=min_tokens, max_tokens=max_tokens)
        try:
            yield from tokens
        finally:
            self.end(request, cache)

    def generate_to_end(
        self,
        embeddings: torch.Tensor,
        cache: CacheT,
        sampler: TokenSampler,
        history: list[int],
        *,
        min_tokens: int,
        max_tokens: int,
    ) -> Iterator[int]:
        """Yield tokens until the model ends the sequence: at least ``min_tokens`` and at most ``max_tokens``."""
        layout = self._layout
        stop_ids = slice(layout.num_speech_tokens, layout.num_rows)
        for num_generated in range(max_tokens):
            logits = self.advance(embeddings, cache)
            token = sampler(logits, history, forbid=stop_ids if num_generated < min_tokens else None)
            if token >= layout.num_speech_tokens:
                return
            history.append(token)
            yield token
            embeddings = self.embed_speech((token,))


def speech_token_limits(request: SpeechTokenRequest, num_text_tokens: int) -> tuple[int, int]:
    """Return the minimum and maximum number of speech tokens for ``num_text_tokens`` without the prompt."""
    minimum, maximum = request.min_tokens, request.max_tokens
    if maximum is None:
        maximum = _MAX_SPEECH_PER_TEXT_TOKEN * num_text_tokens
    if minimum is None:
        minimum = _MIN_SPEECH_PER_TEXT_TOKEN * num_text_tokens
    return min(minimum, maximum), maximum


def prefix_length(request: SpeechTokenRequest) -> int:
    """Return the number of positions before the first new speech token, without a speaker."""
    marks = 2  # start and task
    return marks + len(request.prompt_text_tokens) + len(request.text_tokens) + len(request.prompt_speech_tokens)
