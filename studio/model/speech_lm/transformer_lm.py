"""PyTorch implementation of ``stages.SpeechLM`` for CosyVoice-300M (specification E2, E3)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from studio.model.config import TransformerLMConfig
from studio.model.speech_lm.linear import Linear
from studio.model.speech_lm.torch_lm import CachedSpeechLM, prefix_length, speech_token_limits
from studio.model.speech_lm.transformer_decoder import RelativeCache, RelativeDecoder, check_positions
from studio.model.speech_lm.transformer_network import TransformerLMNetwork, speaker_vector
from studio.model.stages import SpeechTokenRequest

_MAX_PROMPT_STATES = 8


@dataclass(frozen=True, slots=True)
class TransformerInputs:
    """Tables and small matrices around the two transformers."""

    text: torch.Tensor  # (vocabulary, text_embedding_size); used once per utterance, so it stays mapped
    special: torch.Tensor  # (2, hidden): start and task
    speech: torch.Tensor  # (speech_tokens, hidden)
    speaker: torch.nn.Linear
    from_text_encoder: torch.nn.Linear

    @classmethod
    def of(cls, network: TransformerLMNetwork, device: torch.device) -> TransformerInputs:
        return cls(
            text=network.text_embedding.weight.detach(),
            special=network.llm_embedding.weight.detach().to(device, copy=True),
            speech=network.speech_embedding.weight.detach().to(device, copy=True),
            speaker=_copy(network.spk_embed_affine_layer, device),
            from_text_encoder=_copy(network.text_encoder_affine_layer, device),
        )

    def embed_text(self, tokens: Sequence[int]) -> torch.Tensor:
        ids = torch.tensor(tokens, dtype=torch.long, device=self.text.device)
        return F.embedding(ids, self.text).to(self.special.device)

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        return F.embedding(torch.tensor(tokens, dtype=torch.long, device=self.speech.device), self.speech)

    def embed_start(self, speaker: Sequence[float] | None) -> torch.Tensor:
        """Return the start mark and, if there is one, the speaker: (1 or 2, hidden)."""
        start = self.special[:1]
        return start if speaker is None else torch.cat((start, self.speaker(speaker_vector(speaker).to(start.device))))


def _copy(linear: torch.nn.Linear, device: torch.device) -> torch.nn.Linear:
    copied = torch.nn.Linear(linear.in_features, linear.out_features, device="meta").requires_grad_(False)
    weights = {name: value.detach().to(device, copy=True) for name, value in linear.state_dict().items()}
    copied.load_state_dict(weights, assign=True)
    return copied.requires_grad_(False)


# The states of text encoder and decoder after the part of the input that all sentences of a voice share.
_PromptState = tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]


class TransformerSpeechLM(CachedSpeechLM[RelativeCache]):
    """The language model of one checkpoint. Any number of utterances may run at once.

    The start mark, the speaker and the prompt text are computed once and cached for a few voices, in the text encoder
    as well. They are always a separate pass, so the first request of a voice is bit-identical to later ones.
    """

    def __init__(
        self,
        config: TransformerLMConfig,
        inputs: TransformerInputs,
        *,
        text_encoder: RelativeDecoder,
        decoder: RelativeDecoder,
        head: Linear,
        engine: str,
    ) -> None:
        super().__init__(config.layout, config.sampling, head, engine)
        self.config: TransformerLMConfig = config
        self.inputs = inputs
        self.text_encoder = text_encoder
        self.decoder = decoder
        self._prompt_states: OrderedDict[tuple[tuple[int, ...], tuple[float, ...] | None], _PromptState] = OrderedDict()
        self._lock = threading.Lock()

    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        """See ``CachedSpeechLM``. The maximum number of speech tokens is lowered to what fits."""
        min_tokens, max_tokens = speech_token_limits(request, len(request.text_tokens))
        prefix = prefix_length(request) + (request.speaker is not None)
        check_positions(prefix + min_tokens, self.config.max_positions)
        max_tokens = min(max_tokens, self.config.max_positions - prefix)
        return min_tokens, max_tokens, prefix + max_tokens

    def open_cache(self, capacity: int) -> RelativeCache:
        return self.decoder.open_cache(capacity)

    @torch.inference_mode()
    def begin(self, request: SpeechTokenRequest, cache: RelativeCache) -> torch.Tensor:
        text_cache = self.text_encoder.open_cache(len(request.prompt_text_tokens) + len(request.text_tokens))
        self._begin_with_prompt(request, text_cache, cache)
        return torch.cat((
            self._encode(request.text_tokens, text_cache),
            self.inputs.special[1:],
            self.inputs.embed_speech(request.prompt_speech_tokens),
        ))  # fmt: skip

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        return self.inputs.embed_speech(tokens)

    def hidden_states(self, embeddings: torch.Tensor, cache: RelativeCache) -> torch.Tensor:
        return self.decoder.advance(embeddings, cache)

    def _encode(self, tokens: Sequence[int], text_cache: RelativeCache) -> torch.Tensor:
        """Return the text encoder's output (tokens, hidden) for the next text ``tokens``."""
        if not tokens:
            return self.inputs.special[:0]
        encoded: torch.Tensor = self.inputs.from_text_encoder(
            self.text_encoder.advance(self.inputs.embed_text(tokens), text_cache)
        )
        return encoded

    def _begin_with_prompt(self, request: SpeechTokenRequest, text_cache: RelativeCache, cache: RelativeCache) -> None:
        key = request.prompt_text_tokens, request.speaker
        with self._lock:
            states = self._prompt_states.get(key)
            if states is not None:
                self._prompt_states.move_to_end(key)
        if states is not None:
            text_cache.start_from(states[0])
            cache.start_from(states[1])
            return
        encoded = self._encode(request.prompt_text_tokens, text_cache)
        self.decoder.advance(torch.cat((self.inputs.embed_start(request.speaker), encoded)), cache)
        with self._lock:
            self._prompt_states[key] = text_cache.filled(), cache.filled()
            while len(self._prompt_states) > _MAX_PROMPT_STATES:
                self._prompt_states.popitem(last=False)
