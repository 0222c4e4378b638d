"""PyTorch implementation of ``stages.SpeechLM`` for CosyVoice2 and CosyVoice3 (specification E2, E5, E6)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import torch

from studio.model.config import SpeechLMConfig
from studio.model.speech_lm.attention import AttentionRecorder
from studio.model.speech_lm.cached_lm import CachedSpeechLM, prefix_length, speech_token_limits
from studio.model.speech_lm.decoder import Decoder, KVCache, check_length
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.stages import SpeechTokenRequest

_MAX_PROMPT_STATES = 8


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
