"""Generation of speech tokens with a key/value cache, common to all networks (specification E2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import torch

from studio.model.config import AnySpeechLMConfig, SpeechTokenLayout
from studio.model.options import SamplingOptions
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.speculation import Speculator, verified_tokens
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
        # Proposes tokens for lines whose text is complete; None generates one token a step.
        self.speculator: Speculator | None = None

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``stages.SpeechLM``. Tokens are computed on demand, but ``SequenceTooLong`` is raised at once."""
        min_tokens, max_tokens, length = self.lengths(request)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

    @abstractmethod
    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        """Return the minimum and maximum number of speech tokens and the sequence length. Raise ``SequenceTooLong``."""

    @abstractmethod
    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """See ``stages.SpeechLM``. ``text_tokens`` may block."""

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
        return self.score(self.hidden_states(embeddings, cache)[-1:])

    def states_of_rows(self, embeddings: torch.Tensor, cache: CacheT) -> torch.Tensor:
        """Do the same as ``hidden_states``; if possible, no row depends on the number of rows after it by rounding."""
        return self.hidden_states(embeddings, cache)

    def score(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits (head_rows,) for one state ``hidden`` (1, hidden)."""
        return self._score(hidden)[0]

    @torch.inference_mode()
    def _score(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden)

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        speculator = self.speculator
        if speculator is not None and length + speculator.num_proposed > self.config.max_positions:
            speculator = None
        cache = self.open_cache(length + (speculator.num_proposed if speculator else 0))
        line = speculator.open_line(request, cache) if speculator else None
        embeddings = self.begin(request, cache)
        limits = {"min_tokens": min_tokens, "max_tokens": max_tokens}
        if speculator is None or line is None:
            tokens = self._generate_to_end(embeddings, cache, sampler, [], **limits)
        else:
            tokens = verified_tokens(
                self, line, embeddings, cache, sampler, request=request, num_proposed=speculator.num_proposed, **limits
            )
        try:
            yield from tokens
        finally:
            self.end(request, cache)

    def _generate_to_end(
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
