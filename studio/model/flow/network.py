"""Networks of the flow: the encoders from tokens to ``mu``, the mean of the mel, and the whole network of each
generation.

Specification F1, F3, F5, F7. Names in the ``state_dict`` are the keys of ``flow.pt`` (I3, I4).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import (
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    LookAheadConfig,
    RelativeTransformerConfig,
    UNetConfig,
)
from studio.model.flow.dit import DiT
from studio.model.flow.layers import (
    CausalConvolution,
    Context,
    Convolution,
    KeysValues,
    SelfAttention,
    VelocityEstimator,
)
from studio.model.flow.unet import CausalUNet

_LAYER_NORM_EPS = 1e-12


class EncoderContext(NamedTuple):
    """Contexts of the encoder's two rates, which count frames separately."""

    tokens: Context
    frames: Context


class LookAheadLayer(nn.Module):
    """Adds information from the ``lookahead_tokens`` following tokens to each token."""

    def __init__(self, in_channels: int, channels: int, lookahead_tokens: int) -> None:
        super().__init__()
        self.lookahead_tokens = lookahead_tokens
        self.conv1 = Convolution(in_channels, channels, lookahead_tokens + 1)
        self.conv2 = CausalConvolution(channels, in_channels, 3)

    def forward(self, x: torch.Tensor, num_following: int, context: Context) -> torch.Tensor:
        """Return (rows, tokens, in_channels) for all of ``x`` but the last ``num_following`` tokens.

        If fewer than ``lookahead_tokens`` follow, the utterance ends and zeros replace the missing ones.
        """
        seen = F.pad(x, (0, 0, 0, self.lookahead_tokens - num_following))
        y: torch.Tensor = self.conv2(F.leaky_relu(self.conv1.valid(seen), 0.01), context)
        return x[:, : x.shape[1] - num_following] + y


class RelativeAttention(SelfAttention):
    """Self-attention with a learned term for the distance between query and key (specification F3)."""

    def __init__(self, size: int, num_heads: int) -> None:
        super().__init__(size, num_heads, size // num_heads)
        self.linear_q = nn.Linear(size, size)
        self.linear_k = nn.Linear(size, size)
        self.linear_v = nn.Linear(size, size)
        self.linear_out = nn.Linear(size, size)
        self.linear_pos = nn.Linear(size, size, bias=False)
        self.pos_bias_u = nn.Parameter(torch.zeros(num_heads, self.head_size))
        self.pos_bias_v = nn.Parameter(torch.zeros(num_heads, self.head_size))

    def queries(self, normed: torch.Tensor, start: int) -> torch.Tensor:
        del start  # only distances matter here
        return self.split_heads(self.linear_q(normed)) + self.pos_bias_u[:, None]

    def keys_values(self, normed: torch.Tensor, start: int) -> KeysValues:
        del start
        return self.split_heads(self.linear_k(normed)), self.split_heads(self.linear_v(normed))

    def output(self, heads: torch.Tensor) -> torch.Tensor:
        joined: torch.Tensor = self.linear_out(heads)
        return joined

    def distance_keys(self, farthest: int, nearest: int) -> torch.Tensor:
        """Return projected encodings of distances, farthest first: (heads, farthest - nearest + 1, head_size)."""
        distances = torch.arange(farthest, nearest - 1, -1, device=self.pos_bias_u.device)
        encoded = relative_position_encoding(distances, self.input_size, self.pos_bias_u.dtype)
        return self.split_heads(self.linear_pos(encoded)[None])[0]

    def score_bias(self, queries: torch.Tensor, start: int, num_keys: int) -> torch.Tensor:
        num_queries = queries.shape[2]
        # One distance more than is needed, so that the rows below stay separate for a single query.
        farthest, nearest = start + num_queries - 1, start - num_keys
        by_content = queries + (self.pos_bias_v - self.pos_bias_u)[:, None]
        by_distance = by_content @ self.distance_keys(farthest, nearest).transpose(1, 2)
        # Column m of row i is distance farthest - m. Key j of query i needs distance start + i - j, which is in
        # column num_queries - 1 - i + j: one further left in each row, as if rows were one column shorter.
        width = by_distance.shape[-1] - 1
        first = num_queries - 1
        shifted = by_distance.flatten(2)[..., first : first + num_queries * width]
        aligned = torch.unflatten(shifted, 2, (num_queries, width))[..., :num_keys]
        return aligned * (1.0 / math.sqrt(self.head_size))


def relative_position_encoding(distances: torch.Tensor, size: int, dtype: torch.dtype) -> torch.Tensor:
    """Return interleaved sines and cosines (distances, size) with rates of 10000^(-2m/size) radians."""
    rates = torch.exp(
        torch.arange(0, size, 2, dtype=torch.float32, device=distances.device) * -(math.log(10000.0) / size)
    )
    angles = distances[:, None].to(dtype) * rates.to(dtype)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class FeedForward(nn.Module):
    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(size, hidden_size)
        self.w_2 = nn.Linear(hidden_size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.w_2(F.silu(self.w_1(x)))
        return y


class ConformerLayer(nn.Module):
    """Pre-norm attention and feed-forward; CosyVoice2's conformer has no convolution module."""

    def __init__(self, config: ConformerConfig | RelativeTransformerConfig) -> None:
        super().__init__()
        self.self_attn = RelativeAttention(config.size, config.num_heads)
        self.feed_forward = FeedForward(config.size, config.feed_forward_size)
        self.norm_ff = nn.LayerNorm(config.size, eps=_LAYER_NORM_EPS)
        self.norm_mha = nn.LayerNorm(config.size, eps=_LAYER_NORM_EPS)

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        attended: torch.Tensor = x + self.self_attn(self.norm_mha(x), context)
        y: torch.Tensor = attended + self.feed_forward(self.norm_ff(attended))
        return y


class InputLayer(nn.Module):
    """Linear layer, norm, and multiplication by the square root of the width."""

    def __init__(self, in_channels: int, size: int) -> None:
        super().__init__()
        self.out = nn.ModuleList([nn.Linear(in_channels, size), nn.LayerNorm(size, eps=1e-5)])
        self.factor = math.sqrt(size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        linear, norm = self.out
        y: torch.Tensor = norm(linear(x))
        return y * self.factor


class UpsampleLayer(nn.Module):
    """Repeats each token ``factor`` times, followed by a causal convolution."""

    def __init__(self, size: int, factor: int) -> None:
        super().__init__()
        self.factor = factor
        self.conv = CausalConvolution(size, size, 2 * factor + 1)

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        y: torch.Tensor = self.conv(x.repeat_interleave(self.factor, dim=1), context)
        return y


class UpsampleConformerEncoder(nn.Module):
    """Encoder of CosyVoice2: ``num_blocks`` layers at token rate, then ``num_up_blocks`` at frame rate (F5)."""

    def __init__(
        self, config: ConformerConfig, input_size: int, *, lookahead_tokens: int, frames_per_token: int
    ) -> None:
        super().__init__()
        self.embed = InputLayer(input_size, config.size)
        self.after_norm = nn.LayerNorm(config.size, eps=1e-5)
        self.pre_lookahead_layer = LookAheadLayer(config.size, config.size, lookahead_tokens)
        self.encoders = nn.ModuleList(ConformerLayer(config) for _ in range(config.num_blocks))
        self.up_layer = UpsampleLayer(config.size, frames_per_token)
        self.up_embed = InputLayer(config.size, config.size)
        self.up_encoders = nn.ModuleList(ConformerLayer(config) for _ in range(config.num_up_blocks))

    def forward(self, x: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        """Return (rows, frames, size) for embedded tokens (rows, tokens, input_size) except the last ``num_following``."""
        return self.encode(self.embed(x), num_following, context)

    def encode(self, x: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        """Return the result of ``forward`` for tokens (rows, tokens, size) after ``embed``."""
        x = self.pre_lookahead_layer(x, num_following, context.tokens)
        for layer in self.encoders:
            x = layer(x, context.tokens)
        x = self.up_embed(self.up_layer(x, context.frames))
        for layer in self.up_encoders:
            x = layer(x, context.frames)
        y: torch.Tensor = self.after_norm(x)
        return y


class FlowParts(nn.Module):
    """Parts common to all generations: token and speaker embeddings, and an estimator (specification F1)."""

    def __init__(self, config: FlowConfig, estimator: VelocityEstimator) -> None:
        super().__init__()
        self.input_embedding = nn.Embedding(config.num_speech_tokens, config.input_size)
        self.spk_embed_affine_layer = nn.Linear(config.speaker_embedding_size, config.mel_bins)
        self.decoder = nn.ModuleDict({"estimator": estimator})

    @property
    def estimator(self) -> VelocityEstimator:
        estimator = self.decoder["estimator"]
        assert isinstance(estimator, VelocityEstimator)
        return estimator

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return (rows, tokens, input_size) for ids (rows, tokens)."""
        embedded: torch.Tensor = self.input_embedding(tokens.clamp(min=0))
        return embedded

    def speaker(self, embedding: torch.Tensor) -> torch.Tensor:
        """Return (rows, mel_bins) for speaker embeddings (rows, speaker_embedding_size)."""
        projected: torch.Tensor = self.spk_embed_affine_layer(F.normalize(embedding, dim=-1, eps=1e-12))
        return projected


class FlowNetwork(FlowParts, ABC):
    """Speech tokens, a voice and a time to velocities of mel frames, for exact streaming (specification F1, F8)."""

    def __init__(self, config: FlowConfig, estimator: VelocityEstimator) -> None:
        super().__init__(config, estimator)
        self.frames_per_token = config.frames_per_token

    @abstractmethod
    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        """Return (rows, frames, mel_bins) for embedded tokens. The last ``num_following`` are look-ahead."""

    @abstractmethod
    def token_rate_modules(self) -> Sequence[nn.Module]:
        """Return the modules of the encoder at token rate."""

    @abstractmethod
    def frame_rate_modules(self) -> Sequence[nn.Module]:
        """Return the modules of the encoder at frame rate."""


class ConformerFlow(FlowNetwork):
    """CosyVoice2: upsampling conformer and causal U-Net."""

    def __init__(self, config: FlowConfig, conformer: ConformerConfig, unet: UNetConfig) -> None:
        super().__init__(config, CausalUNet(unet, config.mel_bins))
        self.encoder = UpsampleConformerEncoder(
            conformer,
            config.input_size,
            lookahead_tokens=config.lookahead_tokens,
            frames_per_token=config.frames_per_token,
        )
        self.encoder_proj = nn.Linear(conformer.size, config.mel_bins)

    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        mean: torch.Tensor = self.encoder_proj(self.encoder(embedded, num_following, context))
        return mean

    def token_rate_modules(self) -> Sequence[nn.Module]:
        return (self.encoder.pre_lookahead_layer, self.encoder.encoders)

    def frame_rate_modules(self) -> Sequence[nn.Module]:
        return (self.encoder.up_layer, self.encoder.up_encoders)


class TransformerFlow(FlowNetwork):
    """CosyVoice3: look-ahead layer and diffusion transformer."""

    def __init__(self, config: FlowConfig, lookahead: LookAheadConfig, dit: DiTConfig) -> None:
        super().__init__(config, DiT(dit, config.mel_bins))
        self.pre_lookahead_layer = LookAheadLayer(lookahead.in_channels, lookahead.channels, config.lookahead_tokens)

    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        tokens: torch.Tensor = self.pre_lookahead_layer(embedded, num_following, context.tokens)
        return tokens.repeat_interleave(self.frames_per_token, dim=1)

    def token_rate_modules(self) -> Sequence[nn.Module]:
        return (self.pre_lookahead_layer,)

    def frame_rate_modules(self) -> Sequence[nn.Module]:
        return ()


def build_network(config: FlowConfig) -> FlowNetwork:
    """Return the network of ``config`` on the default device, with random weights."""
    if config.conformer is not None and config.unet is not None:
        return ConformerFlow(config, config.conformer, config.unet)
    assert config.lookahead is not None, "a flow has conformer and unet, or lookahead and dit"
    assert config.dit is not None
    return TransformerFlow(config, config.lookahead, config.dit)
