"""The Qwen2 decoder with a key/value cache, packed for fast steps.

It computes the same function as ``Qwen2`` in fewer operations. Query, key and value are one matrix, and so are gate and
up. Channel pairs are adjacent, so that a rotation by position is one complex multiplication. The precision applies only
to the weight matrices: the residual stream, norms, attention and caches are always float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from studio.errors import SequenceTooLong
from studio.model.config import Precision, QwenConfig
from studio.model.speech_lm.linear import Linear, pack
from studio.model.speech_lm.network import Attention, DecoderLayer, GatedMLP, rotary_angles
from studio.model.stages import AttentionHead, AttentionMap, SpeechTokenRequest


class AttentionRecorder:
    """Records the attention of ``heads`` to the text while the speech of ``request`` is generated.

    Decision: it copies the queries of its heads (one small copy per head and token) and multiplies them with the cached
    keys at the end of the sentence. Reason: the step stays as fast as without a recorder, and its operations are the
    same, so no sample changes. Alternative: attention as a result of each step, which needs a product and a softmax per
    token.
    """

    def __init__(self, heads: Sequence[AttentionHead], request: SpeechTokenRequest) -> None:
        text_start = 1 + len(request.prompt_text_tokens)  # after the start mark
        self._text = slice(text_start, text_start + len(request.text_tokens))
        # The first row generates the first speech token.
        self._first_row = self._text.stop + len(request.prompt_speech_tokens)
        self._queries: dict[AttentionHead, list[torch.Tensor]] = {head: [] for head in heads}
        self._heads_of_layer: dict[int, list[int]] = {}
        for head in heads:
            self._heads_of_layer.setdefault(head.layer, []).append(head.head)

    @property
    def layers(self) -> Collection[int]:
        """The layers whose queries are recorded."""
        return self._heads_of_layer.keys()

    def record(self, layer: int, queries: torch.Tensor, head_size: int, start: int) -> None:
        """Copy the queries (rows, heads x head_size) of ``layer``, whose first row has position ``start``."""
        heads = self._heads_of_layer.get(layer)
        if heads is None:
            return
        skipped = max(0, self._first_row - start)
        if skipped >= len(queries):
            return
        for head in heads:
            rows = queries[skipped:, head * head_size : (head + 1) * head_size]
            self._queries[AttentionHead(layer, head)].append(rows.clone())

    @torch.inference_mode()
    def weights(self, layers: Sequence[torch.Tensor], num_query_heads: int) -> AttentionMap | None:
        """Return the mean attention of the heads, or None if nothing was generated. See ``maps``."""
        maps = self.maps(layers, num_query_heads)
        weights: AttentionMap | None = maps.mean(dim=0).numpy(force=True) if maps.shape[1] else None
        return weights

    def maps(self, layers: Sequence[torch.Tensor], num_query_heads: int) -> torch.Tensor:
        """Return the attention of each head to the text, (heads, rows, text tokens).

        ``layers`` are the filled keys and values of ``KVCache``, (2 x kv_heads, positions, head_size) each.
        """
        num_kv, num_positions = layers[0].shape[0] // 2, layers[0].shape[1]
        group = num_query_heads // num_kv
        maps = []
        for head, parts in self._queries.items():
            if not parts:
                return torch.zeros(0, 0, 0)
            queries = torch.cat(parts)
            keys = layers[head.layer][head.head // group]
            scores = queries @ keys.T / math.sqrt(queries.shape[1])
            positions = torch.arange(num_positions, device=scores.device)
            rows = self._first_row + torch.arange(len(queries), device=scores.device)
            visible = positions <= rows[:, None]
            maps.append(scores.masked_fill(~visible, float("-inf")).softmax(dim=1)[:, self._text])
        return torch.stack(maps) if maps else torch.zeros(0, 0, 0)


class KVCache:
    """Keys and values of one utterance.

    Attributes:
        length: Number of positions that are filled.
        states: Keys, then values of all layers: (layers, 2 x kv_heads, capacity, head_size) float32.
        layers: Views of ``states``, one per layer.
        recorder: Records the attention of some heads, or None.
    """

    def __init__(self, config: QwenConfig, states: torch.Tensor) -> None:
        self._config = config
        self.length = 0
        self.recorder: AttentionRecorder | None = None
        self._use(states)

    @classmethod
    def empty(cls, config: QwenConfig, capacity: int, device: torch.device) -> KVCache:
        """Return an empty cache of ``capacity`` positions. Raise ``SequenceTooLong``."""
        check_length(capacity, config)
        shape = (config.num_layers, 2 * config.num_kv_heads, capacity, config.head_size)
        return cls(config, torch.empty(shape, dtype=torch.float32, device=device))

    @property
    def capacity(self) -> int:
        return self.states.shape[2]

    def reserve(self, length: int) -> None:
        """Grow to at least ``length`` positions. Only text that arrives in pieces requires it."""
        if length <= self.capacity:
            return
        check_length(length, self._config)
        filled = self.states[:, :, : self.length]
        capacity = min(max(length, 2 * self.capacity), self._config.max_positions)
        self._use(filled.new_empty(*filled.shape[:2], capacity, filled.shape[3]))
        self.states[:, :, : self.length] = filled

    def filled(self) -> torch.Tensor:
        """Return a copy of the filled part, which another cache can ``start_from``."""
        return self.states[:, :, : self.length].clone()

    def filled_layers(self) -> tuple[torch.Tensor, ...]:
        """Return views of the filled parts of ``layers``."""
        return tuple(states[:, : self.length] for states in self.layers)

    def start_from(self, filled: torch.Tensor) -> None:
        """Initialise this empty cache with ``filled``, the filled part of another one."""
        assert self.length == 0
        self.length = filled.shape[2]
        self.states[:, :, : self.length] = filled

    def _use(self, states: torch.Tensor) -> None:
        self.states = states
        self.layers = states.unbind(0)


def check_length(num_tokens: int, config: QwenConfig) -> None:
    """Raise ``SequenceTooLong`` if the model has fewer than ``num_tokens`` positions."""
    if num_tokens > config.max_positions:
        raise SequenceTooLong(
            "Prompt, text and speech together are {tokens} tokens; the limit of the model is {most}.",
            remedy="Use shorter sentences or a shorter reference clip.",
            tokens=num_tokens,
            most=config.max_positions,
        )


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """One decoder layer with its seven matrices merged into four."""

    input_norm: torch.Tensor
    query_key_value: Linear
    output: Linear
    mlp_norm: torch.Tensor
    gate_up: Linear
    down: Linear


def pack_layer(layer: DecoderLayer, config: QwenConfig, precision: Precision, device: torch.device) -> PackedLayer:
    """Copy the weights of ``layer`` (float32) into the fastest form for ``device``."""
    attention, mlp = layer.self_attn, layer.mlp
    # Attention has an eighth of the weights and is more sensitive to rounding.
    attention_precision = Precision.INT8 if precision is Precision.INT4 else precision
    with torch.no_grad():
        return PackedLayer(
            input_norm=layer.input_layernorm.weight.to(device, copy=True),
            query_key_value=pack(*merged_query_key_value(attention, config), attention_precision, device),
            output=pack(attention.o_proj.weight, None, attention_precision, device, is_mixed=True),
            mlp_norm=layer.post_attention_layernorm.weight.to(device, copy=True),
            gate_up=pack(merged_gate_up(mlp), None, precision, device, is_mixed=True),
            down=pack(mlp.down_proj.weight, None, precision, device, is_mixed=True),
        )


def merged_gate_up(mlp: GatedMLP) -> torch.Tensor:
    """Return the weight (2 x intermediate_size, hidden) of one product."""
    return torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight))


def merged_query_key_value(attention: Attention, config: QwenConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Return weight ((heads + 2 x kv_heads) x head_size, hidden) and bias of one product, with adjacent channel pairs."""
    query, key, value = attention.q_proj, attention.k_proj, attention.v_proj
    order = _interleaved_pairs(config.head_size)

    def paired(rows: torch.Tensor) -> torch.Tensor:
        return rows.view(-1, config.head_size, *rows.shape[1:])[:, order].reshape(rows.shape)

    with torch.no_grad():
        return (
            torch.cat((paired(query.weight), paired(key.weight), value.weight)),
            torch.cat((paired(query.bias), paired(key.bias), value.bias)),
        )


def _interleaved_pairs(head_size: int) -> torch.Tensor:
    """Return the channel order (0, half, 1, half + 1, …). Queries and keys share it, so scores do not change."""
    half = head_size // 2
    return torch.stack((torch.arange(half), torch.arange(half) + half), dim=1).flatten()


class Decoder:
    """All layers and the final norm. The decoder keeps no state, so several utterances may run at once.

    Attributes:
        num_threads: The number of threads, if it is not torch's.
    """

    num_threads: int | None = None

    def __init__(
        self, config: QwenConfig, layers: Iterable[PackedLayer], final_norm: torch.Tensor, device: torch.device
    ) -> None:
        self.config = config
        self.layers = tuple(layers)
        self.final_norm = final_norm.detach().to(device, copy=True)
        self._device = device
        angles = rotary_angles(config, config.max_positions, device)
        self.turns = torch.polar(torch.ones_like(angles), angles)[:, None]  # (positions, 1, head_size / 2)

    def open_cache(self, capacity: int) -> KVCache:
        """Return an empty cache of ``capacity`` positions. Raise ``SequenceTooLong``."""
        return KVCache.empty(self.config, capacity, self._device)

    def run_layers(self, hidden: torch.Tensor, attend: Callable[[int, torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """Return the output (tokens, hidden) of all layers, before the final norm.

        ``attend`` receives the index of the layer and queries, keys and values before rotation, (tokens, (heads + 2 x
        kv_heads) x head_size), and returns the attention (tokens, hidden).
        """
        shape, eps = (self.config.hidden_size,), self.config.rms_norm_eps
        for index, layer in enumerate(self.layers):
            mixed = layer.query_key_value(F.rms_norm(hidden, shape, layer.input_norm, eps))
            hidden = hidden + layer.output(attend(index, mixed))
            gate, up = layer.gate_up(F.rms_norm(hidden, shape, layer.mlp_norm, eps)).chunk(2, dim=1)
            hidden = hidden + layer.down(F.silu(gate).mul_(up))
        return hidden

    def norm(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the final norm of the output of all layers."""
        return F.rms_norm(hidden, (self.config.hidden_size,), self.final_norm, self.config.rms_norm_eps)

    @torch.inference_mode()
    def advance(self, embeddings: torch.Tensor, cache: KVCache) -> torch.Tensor:
        """Return the hidden states after the final norm (tokens, hidden) of the next ``embeddings`` (tokens, hidden).

        Their keys and values are appended to ``cache``. Raise ``SequenceTooLong``.
        """
        config = self.config
        rows, start = embeddings.shape[0], cache.length
        stop = start + rows
        cache.reserve(stop)
        turns = self.turns[start:stop]
        mask = self._mask(start, stop)
        num_kv, size, half = config.num_kv_heads, config.head_size, config.head_size // 2
        width, num_turned = config.hidden_size, config.num_heads + config.num_kv_heads

        def attend(index: int, mixed: torch.Tensor) -> torch.Tensor:
            states = cache.layers[index]
            pairs = mixed[:, : num_turned * size].view(rows, num_turned, half, 2)
            torch.view_as_complex(pairs).mul_(turns)
            if cache.recorder is not None:
                cache.recorder.record(index, mixed[:, :width], size, start)
            states[:, start:stop] = mixed[:, width:].view(rows, 2 * num_kv, size).transpose(0, 1)
            return self.attend(mixed[:, :width], states[:num_kv, :stop], states[num_kv:, :stop], mask)

        hidden = self.run_layers(embeddings, attend)
        cache.length = stop
        return self.norm(hidden)

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Return attention (rows, hidden) of ``queries`` (rows, hidden) over ``keys`` (kv_heads, positions, head_size)."""
        rows, width = queries.shape
        num_kv, num_keys, size = keys.shape
        group = self.config.num_heads // num_kv
        if rows == 1:
            # Query heads that share a key/value head are rows of one small multiplication.
            queries = queries.view(1, num_kv, group, size)
            return F.scaled_dot_product_attention(queries, keys[None], values[None]).view(1, width)
        queries = queries.view(rows, num_kv, group, size).permute(1, 2, 0, 3)
        shared = (num_kv, group, num_keys, size)
        attended = F.scaled_dot_product_attention(
            queries, keys[:, None].expand(shared), values[:, None].expand(shared), mask, is_causal=mask is None
        )
        return attended.permute(2, 0, 1, 3).reshape(rows, width)

    def _mask(self, start: int, stop: int) -> torch.Tensor | None:
        """Return the positions visible to each new row (rows, positions), or None for plain causal attention."""
        if start == 0 or stop - start == 1:
            return None
        positions = torch.arange(stop, device=self._device)
        return positions <= positions[start:, None]
