"""PyTorch implementation of ``stages.SpeechLM`` (specification E2, E5, E6, E7)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator

import torch

from studio.model.config import SpeechLMConfig
from studio.model.speech_lm.decoder import Decoder, KVCache, check_length
from studio.model.speech_lm.interleave import InterleavedScheduler, Segment, TokenKind
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.stages import SpeechTokenRequest, TokenSampler

_MIN_SPEECH_PER_TEXT_TOKEN = 2
_MAX_SPEECH_PER_TEXT_TOKEN = 20
_MAX_PROMPT_STATES = 8
# Initial cache for text that arrives in pieces, enough for half a minute of speech and its text.
_PIECES_CAPACITY = 1024


class TorchSpeechLM:
    """The language model of one checkpoint. Any number of utterances may run at once.

    The part of the input that all sentences of a voice share (start mark and prompt text) is computed once and cached
    for a few voices. It is always a separate pass, so the first request of a voice is bit-identical to later ones.
    """

    def __init__(
        self, config: SpeechLMConfig, inputs: InputEmbeddings, decoder: Decoder, head: Linear, engine: str
    ) -> None:
        self.config = config
        self.sampling = config.sampling
        self.inputs = inputs
        self.engine = engine
        self.max_concurrent_lines = 1  # concurrent lines would not be faster, since each reads all weights
        self.decoder = decoder
        self.head = head
        self._prompt_states: OrderedDict[tuple[int, ...], tuple[torch.Tensor, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``stages.SpeechLM``. Tokens are computed on demand, but ``SequenceTooLong`` is raised at once."""
        min_tokens, max_tokens, length = self.lengths(request)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        """Return the minimum and maximum number of speech tokens and the sequence length. Raise ``SequenceTooLong``."""
        min_tokens, max_tokens = speech_token_limits(request, len(request.text_tokens))
        length = prefix_length(request) + max_tokens
        check_length(length, self.config.backbone)
        return min_tokens, max_tokens, length

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """See ``stages.SpeechLM``. ``text_tokens`` may block. Length limits follow from the number of tokens received.

        Raise ``SequenceTooLong`` during iteration if the sequence exceeds the limit of the model.
        """
        assert not request.text_tokens
        check_length(prefix_length(request), self.config.backbone)
        return self._generate_from_pieces(request, text_tokens, sampler)

    def open_cache(self, capacity: int) -> KVCache:
        return self.decoder.open_cache(capacity)

    def advance(self, embeddings: torch.Tensor, cache: KVCache) -> torch.Tensor:
        """Append ``embeddings`` (tokens, hidden) to ``cache`` and return the logits (head_rows,) of the next token."""
        return self._score(self.decoder.advance(embeddings, cache)[-1:])[0]

    @torch.inference_mode()
    def _score(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden)

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        cache = self.open_cache(length)
        self.begin_with_prompt_text(request.prompt_text_tokens, cache)
        embeddings = self.inputs.embed_rest(request)
        yield from self._generate_to_end(embeddings, cache, sampler, [], min_tokens=min_tokens, max_tokens=max_tokens)

    def _generate_to_end(
        self,
        embeddings: torch.Tensor,
        cache: KVCache,
        sampler: TokenSampler,
        history: list[int],
        *,
        min_tokens: int,
        max_tokens: int,
    ) -> Iterator[int]:
        """Yield tokens until the model ends the sequence: at least ``min_tokens`` and at most ``max_tokens``."""
        layout = self.config.layout
        stop_ids = slice(layout.num_speech_tokens, layout.num_rows)
        for num_generated in range(max_tokens):
            logits = self.advance(embeddings, cache)
            token = sampler(logits, history, forbid=stop_ids if num_generated < min_tokens else None)
            if token >= layout.num_speech_tokens:
                return
            history.append(token)
            yield token
            embeddings = self.inputs.embed_speech((token,))

    def _generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        layout = self.config.layout
        instruction = request.prompt_text_tokens[: request.num_instruction_tokens]
        order = InterleavedScheduler(
            text_per_block=self.config.interleave_text_tokens,
            speech_per_block=self.config.interleave_speech_tokens,
            prompt_text=request.prompt_text_tokens[request.num_instruction_tokens :],
            prompt_speech=request.prompt_speech_tokens,
        )
        cache = self.open_cache(min(prefix_length(request) + _PIECES_CAPACITY, self.config.backbone.max_positions))
        pending = [self.inputs.embed_prompt_text(instruction)]
        history: list[int] = []  # including fill marks, as in training
        num_text_tokens = num_generated = 0

        for text_token in text_tokens:
            num_text_tokens += 1
            pending += map(self._embed, order.receive(text_token))
            while order.speech_left:
                logits = self._without_stops_but_fill(self.advance(torch.cat(pending), cache))
                pending = []
                token = sampler(logits, history, forbid=None)
                history.append(token)
                if token == layout.fill_id:
                    order.end_block()
                    break
                order.count_speech_token()
                if not order.speech_left:
                    history.append(layout.fill_id)
                num_generated += 1
                yield token
                pending = [self.inputs.embed_speech((token,))]

        min_tokens, max_tokens = speech_token_limits(request, num_text_tokens)
        pending += map(self._embed, order.finish())
        yield from self._generate_to_end(
            torch.cat(pending),
            cache,
            sampler,
            history,
            min_tokens=min_tokens - num_generated,
            max_tokens=max_tokens - num_generated,
        )

    def _without_stops_but_fill(self, logits: torch.Tensor) -> torch.Tensor:
        """Return ``logits`` that forbid the end while text arrives, but allow the fill mark, which requests more text."""
        layout = self.config.layout
        permitted = logits.clone()
        permitted[layout.num_speech_tokens :] = float("-inf")
        permitted[layout.fill_id] = logits[layout.fill_id]
        return permitted

    def _embed(self, segment: Segment) -> torch.Tensor:
        match segment.kind:
            case TokenKind.TEXT:
                return self.inputs.embed_text(segment.tokens)
            case TokenKind.SPEECH:
                return self.inputs.embed_speech(segment.tokens)
            case TokenKind.TASK:
                return self.inputs.task

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


def speech_token_limits(request: SpeechTokenRequest, num_text_tokens: int) -> tuple[int, int]:
    """Return the minimum and maximum number of speech tokens for ``num_text_tokens`` without the prompt."""
    minimum, maximum = request.min_tokens, request.max_tokens
    if maximum is None:
        maximum = _MAX_SPEECH_PER_TEXT_TOKEN * num_text_tokens
    if minimum is None:
        minimum = _MIN_SPEECH_PER_TEXT_TOKEN * num_text_tokens
    return min(minimum, maximum), maximum


def prefix_length(request: SpeechTokenRequest) -> int:
    """Return the number of positions before the first new speech token."""
    marks = 2  # start and task
    return marks + len(request.prompt_text_tokens) + len(request.text_tokens) + len(request.prompt_speech_tokens)
