"""Causal transformer with relative positions and a key/value cache, packed for fast steps (specification E3, F3).

It computes the same function as ``RelativeTransformer`` in fewer operations: query, key and value are one matrix, and
the content bias is part of its bias. The official program projects the encodings of all distances for each token;
here a table for each layer keeps them, and grows with the longest sequence so far. Nothing in it depends on the
utterance. The precision applies only to the weight matrices.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from studio.errors import SequenceTooLong
from studio.model.config import Precision, RelativeTransformerConfig
from studio.model.flow.network import relative_position_encoding
from studio.model.speech_lm.linear import Linear, pack
from studio.model.speech_lm.transformer_network import (
    END_NORM_EPS,
    LAYER_NORM_EPS,
    RelativeLayer,
    RelativeTransformer,
)

# Positions by which the tables grow: a tenth of a second of work for a released model on two cores.
_TABLE_STEP = 512


class RelativeCache:
    """Keys and values of one utterance.

    Attributes:
        length: Number of positions that are filled.
        layers: One tensor per layer, (2, heads, capacity, head_size) float32. Keys come before values.
    """

    def __init__(self, config: RelativeTransformerConfig, capacity: int, device: torch.device) -> None:
        self.length = 0
        shape = (config.num_blocks, 2, config.num_heads, capacity, config.head_size)
        self.layers = tuple(torch.empty(shape, dtype=torch.float32, device=device))

    @property
    def capacity(self) -> int:
        capacity: int = self.layers[0].shape[2]
        return capacity

    def filled(self) -> tuple[torch.Tensor, ...]:
        """Return a copy of the filled part, which another cache can ``start_from``."""
        return tuple(layer[:, :, : self.length].clone() for layer in self.layers)

    def start_from(self, filled: tuple[torch.Tensor, ...]) -> None:
        """Initialise this empty cache with ``filled``, the filled part of another one."""
        assert self.length == 0
        self.length = filled[0].shape[2]
        for layer, states in zip(self.layers, filled, strict=True):
            layer[:, :, : self.length] = states


def check_positions(num_tokens: int, most: int) -> None:
    """Raise ``SequenceTooLong`` if the model has fewer than ``num_tokens`` positions."""
    if num_tokens > most:
        raise SequenceTooLong(
            "Prompt, text and speech together are {tokens} tokens; the limit of the model is {most}.",
            remedy="Use shorter sentences or a shorter reference clip.",
            tokens=num_tokens,
            most=most,
        )


@dataclass(frozen=True, slots=True)
class Norm:
    weight: torch.Tensor
    bias: torch.Tensor
    eps: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


def copy_norm(norm: torch.nn.LayerNorm, device: torch.device) -> Norm:
    return Norm(norm.weight.to(device, copy=True), norm.bias.to(device, copy=True), norm.eps)


@dataclass(frozen=True, slots=True)
class PackedRelativeLayer:
    attention_norm: Norm
    query_key_value: Linear
    distance_bias: torch.Tensor  # (heads, 1, head_size): from the content bias to the distance bias
    distance_weight: torch.Tensor  # (size, size) float32
    output: Linear
    feed_forward_norm: Norm
    expand: Linear
    activation: Callable[[torch.Tensor], torch.Tensor]
    contract: Linear

    def finish(self, hidden: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Return the output of the layer for its input ``hidden`` and the result of its attention, (tokens, size) each."""
        hidden = hidden + self.output(attended)
        return hidden + self.contract(self.activation(self.expand(self.feed_forward_norm(hidden))))


def pack_relative_layer(layer: RelativeLayer, precision: Precision, device: torch.device) -> PackedRelativeLayer:
    """Copy the weights of ``layer`` (float32) into the fastest form for ``device``."""
    attention, (attention_norm, feed_forward_norm) = layer.self_attn, layer.norms
    query, key, value = attention.linear_q, attention.linear_k, attention.linear_v
    first, second = layer.feed_forward.w_1, layer.feed_forward.w_2
    attention_precision = Precision.INT8 if precision is Precision.INT4 else precision
    with torch.no_grad():
        return PackedRelativeLayer(
            attention_norm=copy_norm(attention_norm, device),
            query_key_value=pack(
                torch.cat((query.weight, key.weight, value.weight)),
                torch.cat((query.bias + attention.pos_bias_u.flatten(), key.bias, value.bias)),
                attention_precision,
                device,
            ),
            distance_bias=(attention.pos_bias_v - attention.pos_bias_u)[:, None].to(device),
            distance_weight=attention.linear_pos.weight.to(device, torch.float32, copy=True),
            output=pack(attention.linear_out.weight, attention.linear_out.bias, attention_precision, device),
            feed_forward_norm=copy_norm(feed_forward_norm, device),
            expand=pack(first.weight, first.bias, precision, device),
            activation=layer.activation,
            contract=pack(second.weight, second.bias, precision, device),
        )


class RelativeDecoder:
    """All layers, input layer and final norm. Thread-safe: several utterances may run at once."""

    def __init__(
        self,
        network: RelativeTransformer,
        layers: Iterable[PackedRelativeLayer],
        input_linear: Linear,
        device: torch.device,
    ) -> None:
        """``network`` provides all weights but those of the layers and of the input matrix."""
        self.config = network.config
        self.layers = tuple(layers)
        norm = network.embed.out[1]
        assert isinstance(norm, torch.nn.LayerNorm)
        self._input_linear, self._input_norm = input_linear, copy_norm(norm, device)
        self._input_activation = network.input_activation
        self.final_norm = copy_norm(network.after_norm, device)
        self._device = device
        self._lock = threading.Lock()
        self._tables: tuple[torch.Tensor, ...] = ()
        assert (norm.eps, network.after_norm.eps) == (END_NORM_EPS, END_NORM_EPS)
        assert all(layer.attention_norm.eps == LAYER_NORM_EPS for layer in self.layers)

    def open_cache(self, capacity: int) -> RelativeCache:
        return RelativeCache(self.config, capacity, self._device)

    @torch.inference_mode()
    def advance(self, embeddings: torch.Tensor, cache: RelativeCache) -> torch.Tensor:
        """Return the states after the final norm (tokens, size) of the next ``embeddings`` (tokens, in_size).

        Their keys and values are appended to ``cache``.
        """
        config = self.config
        rows, start = embeddings.shape[0], cache.length
        stop = start + rows
        assert stop <= cache.capacity
        num_heads, size = config.num_heads, config.head_size
        mask = self._mask(start, stop)
        hidden = self.project_input(embeddings)
        for layer, states, distances in zip(self.layers, cache.layers, self.distance_tables(stop), strict=True):
            mixed = layer.query_key_value(layer.attention_norm(hidden)).view(rows, 3, num_heads, size)
            queries = mixed[:, 0].transpose(0, 1)
            states[:, :, start:stop] = mixed[:, 1:].permute(1, 2, 0, 3)
            bias = torch.matmul(queries + layer.distance_bias, distances)
            if mask is not None:
                bias = torch.where(mask, _aligned(bias), float("-inf"))
            attended = F.scaled_dot_product_attention(
                queries[None], states[None, 0, :, :stop], states[None, 1, :, :stop], bias[None]
            )
            hidden = layer.finish(hidden, attended[0].transpose(0, 1).reshape(rows, config.size))
        cache.length = stop
        return self.final_norm(hidden)

    def project_input(self, embeddings: torch.Tensor) -> torch.Tensor:
        """Return the input of the first layer (tokens, size)."""
        hidden = self._input_norm(self._input_linear(embeddings))
        if self._input_activation is not None:
            hidden = self._input_activation(hidden)
        return hidden * math.sqrt(self.config.size)

    def _mask(self, start: int, stop: int) -> torch.Tensor | None:
        """Return the positions visible to each new row (rows, positions), or None for a single row."""
        if stop - start == 1:
            return None
        positions = torch.arange(stop, device=self._device)
        return positions <= positions[start:, None]

    def distance_tables(self, num_positions: int) -> tuple[torch.Tensor, ...]:
        """Return the projected encodings of the distances below ``num_positions``, scaled for the scores.

        For each layer they are (heads, head_size, num_positions); column m belongs to the distance
        ``num_positions - 1 - m``.
        """
        tables = self._tables_for(num_positions)
        return tuple(table[:, :, table.shape[2] - num_positions :] for table in tables)

    def _tables_for(self, num_positions: int) -> tuple[torch.Tensor, ...]:
        """Return tables of at least ``num_positions`` distances."""
        tables = self._tables
        if tables and tables[0].shape[2] >= num_positions:
            return tables
        with self._lock:
            known = self._tables[0].shape[2] if self._tables else 0
            if known < num_positions:
                wanted = -(-num_positions // _TABLE_STEP) * _TABLE_STEP
                distances = torch.arange(wanted - 1, known - 1, -1, device=self._device)
                encoded = relative_position_encoding(distances, self.config.size, torch.float32)
                encoded *= 1.0 / math.sqrt(self.config.head_size)
                grown = []
                for index, layer in enumerate(self.layers):
                    projected = F.linear(encoded, layer.distance_weight)
                    added = projected.view(wanted - known, self.config.num_heads, -1).permute(1, 2, 0)
                    grown.append(torch.cat((added, self._tables[index]), dim=2) if known else added.contiguous())
                self._tables = tuple(grown)
            return self._tables


def _aligned(bias: torch.Tensor) -> torch.Tensor:
    """Convert a bias indexed by distance to one indexed by position, (heads, rows, positions).

    Column m of ``bias`` belongs to the distance positions - 1 - m. Row i of the result begins rows - 1 - i columns
    further right. Positions after that of the row have arbitrary values.
    """
    heads, rows, width = bias.shape
    return bias.contiguous().as_strided((heads, rows, width), (rows * width, width - 1, 1), rows - 1)
