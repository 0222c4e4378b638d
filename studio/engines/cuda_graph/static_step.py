"""One token of several lines through the language model in memory that never moves, whatever their positions."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from studio.model.config import QwenConfig
from studio.model.speech_lm.cache import KVCache
from studio.model.speech_lm.decoder import Decoder
from studio.model.speech_lm.linear import Linear


class RowCache(KVCache):
    """The cache of one line: a row of a memory that others share, and that never grows."""

    def __init__(self, config: QwenConfig, layers: tuple[torch.Tensor, ...]) -> None:
        self._layers = layers
        super().__init__(config, layers[0].shape[1], layers[0].device)

    def _allocate(self, capacity: int, device: torch.device) -> None:  # noqa: ARG002 - it is there
        assert not self.layers, "a recorded graph knows this memory only"
        self.layers = self._layers


class StaticStep:
    """Of each of ``num_rows`` lines ``token`` (rows,) at ``position`` (rows,) to ``logits`` (rows, ids).

    A token below zero is none; what is computed of it concerns nobody.

    The same function as ``Decoder.advance`` for one token and the head. Attention reads all of a row's cache and
    hides what is not filled, as its size must not change. A row without a line stays at position 0, which the next
    line's prompt fills.
    """

    def __init__(
        self, decoder: Decoder, head: Linear, speech_table: torch.Tensor, capacity: int, *, num_rows: int = 1
    ) -> None:
        config, device = decoder.config, speech_table.device
        self.num_rows = num_rows
        self.token = torch.zeros(num_rows, dtype=torch.long, device=device)
        self.position = torch.zeros(num_rows, dtype=torch.long, device=device)
        shape = (num_rows, 2 * config.num_kv_heads, capacity, config.head_size)
        # Zeros: what is hidden is multiplied by nothing, which of a NaN would be a NaN.
        self.layers = tuple(torch.zeros(shape, device=device) for _ in range(config.num_layers))
        self._decoder = decoder
        self._head = head
        self._speech_table = speech_table
        self._positions = torch.arange(capacity, device=device)

    @property
    def capacity(self) -> int:
        return len(self._positions)

    @torch.inference_mode()
    def clear(self, row: int) -> None:
        """Forgets what was no number: hidden it is multiplied by nothing, and stays none."""
        for layer in self.layers:
            layer[row].zero_()

    def cache(self, row: int) -> RowCache:
        """For whoever fills a row with what comes before its first token."""
        return RowCache(self._decoder.config, tuple(layer[row] for layer in self.layers))

    @torch.inference_mode()
    def take_over(self, other: StaticStep) -> None:
        """The lines of ``other``, which has fewer rows, become the first ones here."""
        pairs = zip(
            (*self.layers, self.token, self.position), (*other.layers, other.token, other.position), strict=True
        )
        for ours, theirs in pairs:
            ours[: other.num_rows] = theirs

    @torch.inference_mode()
    def logits(self, num_rows: int) -> torch.Tensor:
        """Scores (num_rows, ids) of the token after each of the first rows' ``token``; positions stay."""
        decoder, config = self._decoder, self._decoder.config
        position = self.position[:num_rows]
        turns = decoder.turns.index_select(0, position)
        bias = torch.where(self._positions <= position[:, None], 0.0, float("-inf"))[:, None, None]
        place = position.view(num_rows, 1, 1, 1).expand(-1, 2 * config.num_kv_heads, 1, config.head_size)
        hidden = F.embedding(self.token[:num_rows].clamp(min=0), self._speech_table)
        num_kv, size, half = config.num_kv_heads, config.head_size, config.head_size // 2
        width, num_turned = config.hidden_size, config.num_heads + config.num_kv_heads
        for layer, all_states in zip(decoder.layers, self.layers, strict=True):
            states = all_states[:num_rows]
            mixed = layer.query_key_value(F.rms_norm(hidden, (width,), layer.input_norm, config.rms_norm_eps))
            pairs = mixed[:, : num_turned * size].view(num_rows, num_turned, half, 2)
            torch.view_as_complex(pairs).mul_(turns)
            states.scatter_(2, place, mixed[:, width:].view(num_rows, 2 * num_kv, 1, size))
            hidden = hidden + layer.output(self._attend(mixed[:, :width], states, bias, config))
            gate, up = layer.gate_up(F.rms_norm(hidden, (width,), layer.mlp_norm, config.rms_norm_eps)).chunk(2, dim=1)
            hidden = hidden + layer.down(F.silu(gate).mul_(up))
        return self._head(F.rms_norm(hidden, (width,), decoder.final_norm, config.rms_norm_eps))

    def _attend(
        self, queries: torch.Tensor, states: torch.Tensor, bias: torch.Tensor, config: QwenConfig
    ) -> torch.Tensor:
        """(rows, hidden): the query heads that share keys are rows of one product, as in ``Decoder``."""
        num_kv = config.num_kv_heads
        queries = queries.view(len(states), num_kv, config.num_heads // num_kv, config.head_size)
        keys, values = states[:, :num_kv], states[:, num_kv:]
        scores = torch.matmul(queries * config.head_size**-0.5, keys.transpose(2, 3)) + bias
        return torch.matmul(scores.softmax(dim=-1), values).view(len(states), config.hidden_size)
