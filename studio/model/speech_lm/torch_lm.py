"""Generation of speech tokens with a key/value cache: the loop of all networks, and the PyTorch implementation of
``stages.SpeechLM`` for CosyVoice2 and CosyVoice3 (specification E2, E5, E6).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import torch

from studio.model.config import AnySpeechLMConfig, SpeechLMConfig, SpeechTokenLayout
from studio.model.options import SamplingOptions
from studio.model.speech_lm.decoder import AttentionRecorder, Decoder, KVCache, check_length
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.stages import SpeechTokenRequest, TokenSampler

MIN_SPEECH_PER_TEXT_TOKEN = 2
_MAX_SPEECH_PER_TEXT_TOKEN = 20
_MAX_PROMPT_STATES = 8
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
        minimum = MIN_SPEECH_PER_TEXT_TOKEN * num_text_tokens
    return min(minimum, maximum), maximum


def prefix_length(request: SpeechTokenRequest) -> int:
    """Return the number of positions before the first new speech token, without a speaker."""
    marks = 2  # start and task
    return marks + len(request.prompt_text_tokens) + len(request.text_tokens) + len(request.prompt_speech_tokens)


class TorchSpeechLM(CachedSpeechLM[KVCache]):
    """The language model of one checkpoint. Any number of utterances may run at once.

    The part of the input that all sentences of a voice share (start mark and prompt text) is computed once and cached
    for a few voices. It is always a separate pass, so the first request of a voice is bit-identical to later ones.
    """

    def __init__(
        self, config: SpeechLMConfig, inputs: InputEmbeddings, decoder: Decoder, head: Linear, engine: str
    ) -> None:
        super().__init__(config.layout, config.sampling, head, engine)
        self.config: SpeechLMConfig = config
        self.inputs = inputs
        self.decoder = decoder
        self._prompt_states: OrderedDict[tuple[int, ...], torch.Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        """See ``CachedSpeechLM``."""
        min_tokens, max_tokens = speech_token_limits(request, len(request.text_tokens))
        length = prefix_length(request) + max_tokens
        check_length(length, self.config.backbone)
        return min_tokens, max_tokens, length

    def plain(self) -> TorchSpeechLM:
        """Return the model that computes attention after a take; see ``studio/pipeline/alignment.py``."""
        return self

    def open_cache(self, capacity: int) -> KVCache:
        return self.decoder.open_cache(capacity)

    def begin(self, request: SpeechTokenRequest, cache: KVCache) -> torch.Tensor:
        self.begin_with_prompt_text(request.prompt_text_tokens, cache)
        if request.attention is not None:
            cache.recorder = AttentionRecorder(request.attention.heads, request)
        return self.inputs.embed_rest(request)

    def end(self, request: SpeechTokenRequest, cache: KVCache) -> None:
        if request.attention is not None and cache.recorder is not None:
            request.attention.weights = cache.recorder.weights(cache.filled_layers(), self.config.backbone.num_heads)

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        return self.inputs.embed_speech(tokens)

    def hidden_states(self, embeddings: torch.Tensor, cache: KVCache) -> torch.Tensor:
        return self.decoder.advance(embeddings, cache)

    def begin_with_prompt_text(self, prompt_text_tokens: tuple[int, ...], cache: KVCache) -> None:
        """Fill an empty ``cache`` with the part of the input that all sentences of a voice share."""
        with self._lock:
            states = self._prompt_states.get(prompt_text_tokens)
            if states is not None:
                self._prompt_states.move_to_end(prompt_text_tokens)
        if states is not None:
            cache.start_from(states)
            return
        self.decoder.advance(self.inputs.embed_prompt_text(prompt_text_tokens), cache)
        with self._lock:
            self._prompt_states[prompt_text_tokens] = cache.filled()
            while len(self._prompt_states) > _MAX_PROMPT_STATES:
                self._prompt_states.popitem(last=False)
