"""Generation of speech tokens with a key/value cache: the loop of all networks, the sampler, and the PyTorch
implementation of ``stages.SpeechLM`` for CosyVoice2 and CosyVoice3 (specification E1, E2, E5, E6).

A sampler belongs to one utterance and owns its random generator, so results depend on the seed alone.
Sampling runs on the CPU, where the token is needed anyway; its logits are 27 kB.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, Self, TypeVar

import torch

from studio.errors import ModelOverflow
from studio.model.config import AnySpeechLMConfig, SpeechLMConfig, SpeechTokenLayout
from studio.model.options import SamplingOptions
from studio.model.speech_lm.decoder import AttentionRecorder, Decoder, KVCache, check_length
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.stages import SpeechTokenRequest, TokenSampler

MIN_SPEECH_PER_TEXT_TOKEN = 2
_MAX_SPEECH_PER_TEXT_TOKEN = 20
_MAX_PROMPT_STATES = 8
NEVER = float("-inf")


class LMCache(Protocol):
    """State of an utterance. A lower ``length`` discards the last positions."""

    length: int


CacheT = TypeVar("CacheT", bound=LMCache)


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

    def plain(self) -> Self:
        """Return the model that computes attention and probabilities of known tokens."""
        return self

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


class RepetitionAwareSampler:
    """Sampler with the distribution of the official one, but a single random number per token.

    The first draw is from the nucleus. If its token occurred recently, a second draw is from all other
    tokens. One random number is enough for both, since its position within the share of the first token is again
    uniformly distributed.
    """

    def __init__(self, options: SamplingOptions, seed: int) -> None:
        self.options = options
        self.num_second_draws = 0
        self._generator = torch.Generator().manual_seed(seed)

    def draw_points(self, count: int) -> torch.Tensor:
        """Return the random numbers (count,) float64 of the next tokens, for sampling on another device."""
        return torch.rand(count, generator=self._generator, dtype=torch.float64)

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        scores = allowed_scores(logits, forbid)
        tokens, probabilities = nucleus(scores, self.options)
        point = torch.rand((), generator=self._generator, dtype=torch.float64).item() * sum(probabilities)
        index, inside = _locate(point, probabilities)
        token = tokens[index]
        if not is_repeated(token, history, self.options):
            return token
        self.num_second_draws += 1
        scores[token] = NEVER
        shares = scores.softmax(dim=0, dtype=torch.float64).cumsum(dim=0)
        # right=True skips tokens of probability zero: the repeated token and forbidden ones.
        return int(torch.searchsorted(shares, inside * shares[-1], right=True).clamp_(max=len(shares) - 1))


def allowed_scores(logits: torch.Tensor, forbid: slice | None) -> torch.Tensor:
    scores = logits.to("cpu", torch.float32, copy=True)
    if forbid is not None:
        scores[forbid] = NEVER
    return scores


def nucleus(scores: torch.Tensor, options: SamplingOptions) -> tuple[list[int], list[float]]:
    """Return the most likely tokens, best first, including the one that crosses ``top_p``, and their probabilities."""
    best = scores.softmax(dim=0).topk(min(options.top_k, len(scores)))
    probabilities: list[float] = best.values.tolist()
    if not probabilities[0] > 0.0:
        raise nan_error()
    count, total = 0, 0.0
    while count < len(probabilities) and total < options.top_p:
        total += probabilities[count]
        count += 1
    return best.indices[:count].tolist(), probabilities[:count]


def nan_error() -> ModelOverflow:
    """Return the error for logits that are NaN."""
    return ModelOverflow(
        "The speech language model computed something that is not a number.",
        remedy="Choose float32; if that fails too, download the model again.",
    )


def _locate(point: float, probabilities: Sequence[float]) -> tuple[int, float]:
    """Return the index of the cumulative share that contains ``point``, and the position within it, 0..1."""
    for index, share in enumerate(probabilities):
        if point < share:
            return index, point / share
        point -= share
    return len(probabilities) - 1, 0.0  # the sum is below the point by a rounding error


def is_repeated(token: int, history: Sequence[int], options: SamplingOptions) -> bool:
    recent = history[max(0, len(history) - options.window_tokens) :]
    return recent.count(token) >= options.window_tokens * options.repetition_ratio
