"""Network of the speech language model: input embeddings around a Qwen2 decoder (specification E4, E5, E6).

It is plain and differentiable and processes whole sequences: for training, and as the reference for all faster forms.
Names in the ``state_dict`` are the keys of ``llm.pt`` (I2).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import QwenConfig, SpeechLMConfig
from studio.model.stages import SpeechTokenRequest


@dataclass(frozen=True, slots=True)
class InputEmbeddings:
    """Input embeddings, in the order of specification E5."""

    start: torch.Tensor  # (1, hidden)
    task: torch.Tensor  # (1, hidden)
    text: torch.Tensor  # (vocabulary, hidden); may be on another device, since it is large and used once per utterance
    speech: torch.Tensor  # (rows, hidden)

    def to(self, device: torch.device) -> InputEmbeddings:
        """Return detached tables, all but the text table on ``device``."""
        start, task, speech = (table.detach().to(device) for table in (self.start, self.task, self.speech))
        return InputEmbeddings(start, task, self.text.detach(), speech)

    def embed_text(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return (len(tokens), hidden) on the device of ``speech``."""
        ids = torch.tensor(tokens, dtype=torch.long, device=self.text.device)
        return F.embedding(ids, self.text).to(self.speech.device)

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return (len(tokens), hidden)."""
        return F.embedding(torch.tensor(tokens, dtype=torch.long, device=self.speech.device), self.speech)

    def embed_prompt_text(self, tokens: Sequence[int]) -> torch.Tensor:
        """Return the part that all sentences of a voice share, start mark and prompt text: (1 + len(tokens), hidden)."""
        return torch.cat((self.start, self.embed_text(tokens)))

    def embed_rest(self, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the input between the prompt text and the first new speech token: (tokens, hidden)."""
        return torch.cat((
            self.embed_text(request.text_tokens), self.task, self.embed_speech(request.prompt_speech_tokens)
        ))  # fmt: skip

    def embed_request(self, request: SpeechTokenRequest) -> torch.Tensor:
        """Return the whole input before the first new speech token: (tokens, hidden)."""
        return torch.cat((self.embed_prompt_text(request.prompt_text_tokens), self.embed_rest(request)))


class Qwen2(nn.Module):
    """Decoder layers and final norm. ``embed_tokens`` is the embedding table of the text tokens."""

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


BACKBONE = "llm.model.model"
# Tied to the text table in the file and not used for speech.
UNUSED_TENSORS: Collection[str] = ("llm.model.lm_head.weight",)


class _Named(nn.Module):
    """Adds a level to the official names."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model


class SpeechLMNetwork(nn.Module):
    """Differentiable network for whole sequences, without caches: for training, and as the reference for ``Decoder``."""

    def __init__(self, config: SpeechLMConfig) -> None:
        super().__init__()
        layout, hidden_size = config.layout, config.backbone.hidden_size
        self.config = config
        if layout.has_llm_embedding:
            self.llm_embedding = table(2, hidden_size)
        self.llm = _Named(_Named(Qwen2(config.backbone)))
        self.llm_decoder = nn.Linear(hidden_size, layout.num_rows, bias=layout.head_has_bias)
        self.speech_embedding = table(layout.num_rows, hidden_size)

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Return the hidden states after the final norm, shaped like ``embeddings`` (batch, tokens, hidden)."""
        hidden: torch.Tensor = self.backbone(embeddings)
        return hidden

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits (…, head_rows) of the next speech token."""
        scores: torch.Tensor = self.llm_decoder(hidden)
        return scores

    def scores(self, request: SpeechTokenRequest, tokens: Sequence[int]) -> torch.Tensor:
        """Return the logits (len(tokens), head_rows) before each of ``tokens``, which follow ``request``."""
        inputs = self.inputs
        embeddings = torch.cat((inputs.embed_request(request), inputs.embed_speech(tokens[:-1])))
        return self.logits(self(embeddings[None])[0, -len(tokens) :])

    @property
    def backbone(self) -> Qwen2:
        backbone = self.get_submodule(BACKBONE)
        assert isinstance(backbone, Qwen2)
        return backbone

    @property
    def inputs(self) -> InputEmbeddings:
        """Return the current tables, with gradients."""
        layout = self.config.layout
        special = self.llm_embedding if layout.has_llm_embedding else self.speech_embedding
        return InputEmbeddings(
            start=special.weight[layout.sos_row][None],
            task=special.weight[layout.task_row][None],
            text=self.backbone.embed_tokens.weight,
            speech=self.speech_embedding.weight,
        )
