"""Network of CosyVoice-300M's speech language model: a text encoder before a causal transformer (specification E3).

It is plain and differentiable and processes whole sequences, as the reference for all faster forms. Names in the
``state_dict`` are the keys of ``llm.pt`` (I1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import RelativeTransformerConfig, TransformerLMConfig
from studio.model.flow.network import RelativeAttention
from studio.model.speech_lm.network import table
from studio.model.stages import SpeechTokenRequest

LAYER_NORM_EPS, END_NORM_EPS = 1e-12, 1e-5


class RelativeFeedForward(nn.Module):
    def __init__(self, config: RelativeTransformerConfig) -> None:
        super().__init__()
        self.w_1 = nn.Linear(config.size, config.feed_forward_size)
        self.w_2 = nn.Linear(config.feed_forward_size, config.size)


class RelativeLayer(nn.Module):
    """A causal layer. The two norms and the activation differ between text encoder and decoder."""

    def __init__(
        self,
        config: RelativeTransformerConfig,
        norm_names: tuple[str, str],
        activation: Callable[[torch.Tensor], torch.Tensor],
    ) -> None:
        super().__init__()
        self.self_attn = RelativeAttention(config.size, config.num_heads)
        self.feed_forward = RelativeFeedForward(config)
        self._norm_names = norm_names
        self.activation = activation
        for name in norm_names:
            self.add_module(name, nn.LayerNorm(config.size, eps=LAYER_NORM_EPS))

    @property
    def norms(self) -> tuple[nn.LayerNorm, nn.LayerNorm]:
        """The norms before attention and before the feed-forward layer."""
        first, second = (self.get_submodule(name) for name in self._norm_names)
        assert isinstance(first, nn.LayerNorm)
        assert isinstance(second, nn.LayerNorm)
        return first, second

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before_attention, before_feed_forward = self.norms
        x = x + self._attend(before_attention(x))
        after: torch.Tensor = x + self.feed_forward.w_2(self.activation(self.feed_forward.w_1(before_feed_forward(x))))
        return after

    def _attend(self, normed: torch.Tensor) -> torch.Tensor:
        attention, num_tokens = self.self_attn, normed.shape[1]
        queries = attention.queries(normed, 0)
        keys, values = attention.keys_values(normed, 0)
        is_past = torch.ones(num_tokens, num_tokens, dtype=torch.bool, device=normed.device).tril()
        bias = attention.score_bias(queries, 0, num_tokens).masked_fill(~is_past, float("-inf"))
        mixed = F.scaled_dot_product_attention(queries, keys, values, bias)
        return attention.output(mixed.transpose(1, 2).flatten(2))


class _Input(nn.Module):
    """Adds a level to the official names."""

    def __init__(self, in_size: int, size: int) -> None:
        super().__init__()
        self.out = nn.Sequential(nn.Linear(in_size, size), nn.LayerNorm(size, eps=END_NORM_EPS))


class RelativeTransformer(nn.Module):
    """Input layer, causal layers with relative positions, and final norm."""

    def __init__(
        self,
        config: RelativeTransformerConfig,
        in_size: int,
        norm_names: tuple[str, str],
        activation: Callable[[torch.Tensor], torch.Tensor],
        input_activation: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.input_activation = input_activation
        self._norm_names, self._activation = norm_names, activation
        self.embed = _Input(in_size, config.size)
        self.encoders = nn.ModuleList(self.new_layer() for _ in range(config.num_blocks))
        self.after_norm = nn.LayerNorm(config.size, eps=END_NORM_EPS)

    def new_layer(self) -> RelativeLayer:
        """Return a layer of the right sizes, which is not part of this network."""
        return RelativeLayer(self.config, self._norm_names, self._activation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the states after the final norm (batch, tokens, size) of ``x`` (batch, tokens, in_size)."""
        x = self.embed.out(x)
        x = self.input_activation(x) if self.input_activation else x
        x = x * math.sqrt(self.config.size)
        for layer in self.encoders:
            x = layer(x)
        normed: torch.Tensor = self.after_norm(x)
        return normed


class TransformerLMNetwork(nn.Module):
    """Differentiable network for whole sequences, without caches."""

    def __init__(self, config: TransformerLMConfig) -> None:
        super().__init__()
        layout, size = config.layout, config.decoder.size
        self.config = config
        self.text_embedding = table(config.vocabulary_size, config.text_embedding_size)
        self.text_encoder = RelativeTransformer(
            config.text_encoder, config.text_embedding_size, ("norm_mha", "norm_ff"), F.silu
        )
        self.text_encoder_affine_layer = nn.Linear(config.text_encoder.size, size)
        self.llm_embedding = table(2, size)
        self.llm = RelativeTransformer(config.decoder, size, ("norm1", "norm2"), F.relu, F.relu)
        self.llm_decoder = nn.Linear(size, layout.num_rows)
        self.speech_embedding = table(layout.num_speech_tokens, size)
        self.spk_embed_affine_layer = nn.Linear(config.speaker_embedding_size, size)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Return the hidden states after the final norm, shaped like ``embeddings`` (batch, tokens, hidden)."""
        hidden: torch.Tensor = self.llm(embeddings)
        return hidden

    def embed_request(self, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the whole input before the first new speech token: (tokens, hidden)."""
        text = torch.tensor(request.prompt_text_tokens + request.text_tokens, dtype=torch.long)
        encoded = self.text_encoder_affine_layer(self.text_encoder(self.text_embedding(text)[None])[0])
        start, task = self.llm_embedding.weight[:, None]
        speaker = [] if request.speaker is None else [self.spk_embed_affine_layer(speaker_vector(request.speaker))]
        return torch.cat([start, *speaker, encoded, task, self.embed_speech(request.prompt_speech_tokens)])

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        embedded: torch.Tensor = self.speech_embedding(torch.tensor(tokens, dtype=torch.long))
        return embedded

    def scores(self, request: SpeechTokenRequest, tokens: Sequence[int]) -> torch.Tensor:
        """Return the logits (len(tokens), head_rows) before each of ``tokens``, which follow ``request``."""
        embeddings = torch.cat((self.embed_request(request), self.embed_speech(tokens[:-1])))
        logits: torch.Tensor = self.llm_decoder(self(embeddings[None])[0, -len(tokens) :])
        return logits


def speaker_vector(embedding: Sequence[float]) -> torch.Tensor:
    """Return a speaker embedding with length 1: (1, len(embedding))."""
    return F.normalize(torch.tensor(embedding, dtype=torch.float32), dim=0)[None]
