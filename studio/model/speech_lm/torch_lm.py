"""PyTorch implementation of ``stages.SpeechLM`` for CosyVoice2 and CosyVoice3 (specification E2, E5, E6, E7)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

import torch

from studio.model.config import SpeechLMConfig
from studio.model.speech_lm.cached_lm import CachedSpeechLM, prefix_length, speech_token_limits
from studio.model.speech_lm.decoder import Decoder, KVCache, check_length
from studio.model.speech_lm.interleave import InterleavedScheduler, Segment, TokenKind
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.stages import SpeechTokenRequest, TokenSampler

_MAX_PROMPT_STATES = 8
# Initial cache for text that arrives in pieces, enough for half a minute of speech and its text.
_PIECES_CAPACITY = 1024


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

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """See ``stages.SpeechLM``. ``text_tokens`` may block. Length limits follow from the number of tokens received.

        Raise ``SequenceTooLong`` during iteration if the sequence exceeds the limit of the model.
        """
        assert not request.text_tokens
        check_length(prefix_length(request), self.config.backbone)
        return self._generate_from_pieces(request, text_tokens, sampler)

    def plain(self) -> TorchSpeechLM:
        """Return the model that computes attention after a take; see ``studio/pipeline/alignment.py``."""
        return self

    def open_cache(self, capacity: int) -> KVCache:
        return self.decoder.open_cache(capacity)

    def begin(self, request: SpeechTokenRequest, cache: KVCache) -> torch.Tensor:
        self.begin_with_prompt_text(request.prompt_text_tokens, cache)
        if request.attention is not None:
            request.attention.begin(request)
            cache.trace = request.attention
        return self.inputs.embed_rest(request)

    def end(self, request: SpeechTokenRequest, cache: KVCache) -> None:
        if request.attention is not None:
            request.attention.finish(cache, self.config.backbone.num_heads)

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        return self.inputs.embed_speech(tokens)

    def hidden_states(self, embeddings: torch.Tensor, cache: KVCache) -> torch.Tensor:
        return self.decoder.advance(embeddings, cache)

    def _generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        layout = self.config.layout
        assert layout.fill_id is not None
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
        assert layout.fill_id is not None
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
