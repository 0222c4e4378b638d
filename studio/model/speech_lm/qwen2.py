"""The Qwen2 decoder as a plain, differentiable network for whole sequences (specification E4).

It is used for training and as the reference for all faster forms. Attribute names are those of the weight
files (specification I2).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import QwenConfig


class Qwen2(nn.Module):
    """Decoder layers and final norm. ``embed_tokens`` is the table of text tokens."""

    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = table(config.vocabulary_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Return the hidden states after the final norm, shaped like ``embeddings`` (batch, tokens, hidden).

        Attention is causal and positions count from 0, so a batch may be padded on the right.
        """
        hidden = embeddings
        cosines, sines = rotary_tables(self.config, hidden.shape[1], hidden.device)
        for layer in self.layers:
            hidden = layer(hidden, cosines.to(hidden.dtype), sines.to(hidden.dtype))
        normed: torch.Tensor = self.norm(hidden)
        return normed


def table(num_rows: int, size: int) -> nn.Embedding:
    """Return an embedding table with initial values, or without values on the meta device."""
    weight = torch.empty(num_rows, size)
    if not weight.is_meta:  # random numbers on the meta device make torch import sympy, 1 to 2 s
        nn.init.normal_(weight, std=0.02)
    return nn.Embedding(num_rows, size, _weight=weight)


class DecoderLayer(nn.Module):
    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = GatedMLP(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, hidden: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), cosines, sines)
        after: torch.Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return after


class Attention(nn.Module):
    """Causal grouped-query attention."""

    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.config = config
        size, kv_size = config.hidden_size, config.num_kv_heads * config.head_size
        self.q_proj = nn.Linear(size, size)
        self.k_proj = nn.Linear(size, kv_size)
        self.v_proj = nn.Linear(size, kv_size)
        self.o_proj = nn.Linear(size, size, bias=False)

    def forward(self, hidden: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        config = self.config
        batch, tokens, _ = hidden.shape

        def heads(projected: torch.Tensor, count: int) -> torch.Tensor:
            return projected.view(batch, tokens, count, config.head_size).transpose(1, 2)

        queries = rotate(heads(self.q_proj(hidden), config.num_heads), cosines, sines)
        keys = rotate(heads(self.k_proj(hidden), config.num_kv_heads), cosines, sines)
        values = heads(self.v_proj(hidden), config.num_kv_heads)
        group = config.num_heads // config.num_kv_heads
        mixed = F.scaled_dot_product_attention(
            queries, keys.repeat_interleave(group, 1), values.repeat_interleave(group, 1), is_causal=True
        )
        projected: torch.Tensor = self.o_proj(mixed.transpose(1, 2).reshape(batch, tokens, config.hidden_size))
        return projected


class GatedMLP(nn.Module):
    def __init__(self, config: QwenConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        projected: torch.Tensor = self.down_proj(F.silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return projected


def rotary_angles(config: QwenConfig, num_positions: int, device: torch.device) -> torch.Tensor:
    """Return the rotation angles (positions, head_size / 2) float32 of channel pairs."""
    exponents = torch.arange(0, config.head_size, 2, device=device, dtype=torch.float32) / config.head_size
    frequencies = 1.0 / config.rope_theta**exponents
    return torch.outer(torch.arange(num_positions, device=device, dtype=torch.float32), frequencies)


def rotary_tables(config: QwenConfig, num_positions: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines for ``rotate``, each (positions, head_size)."""
    angles = rotary_angles(config, num_positions, device).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(heads: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Rotate channel pairs (i, i + half) of ``heads`` (batch, heads, tokens, head_size) by position."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cosines + torch.cat((-second, first), dim=-1) * sines
