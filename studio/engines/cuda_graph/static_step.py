"""One token through the language model in memory that never moves, whatever its position."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from studio.model.config import QwenConfig
from studio.model.speech_lm.cache import KVCache
from studio.model.speech_lm.decoder import Decoder
from studio.model.speech_lm.linear import Linear


class FixedCache(KVCache):
    """A cache that is used again for one utterance after another, and never grows."""

    def begin(self) -> None:
        """For another utterance."""
        self.length = 0

    def _allocate(self, capacity: int, device: torch.device) -> None:
        assert not self.layers, "a recorded graph knows this memory only"
        super()._allocate(capacity, device)
        for layer in self.layers:
            layer.zero_()  # what is hidden is multiplied by nothing, which of a NaN would be a NaN


class StaticStep:
    """``token`` (1,) at ``position`` (1,) to ``logits`` (head_rows,); its keys and values go into ``cache``.

    The same function as ``Decoder.advance`` for one token and the head. Attention reads all of the cache and
    hides what is not filled, as its size must not change.
    """

    def __init__(self, decoder: Decoder, head: Linear, speech_table: torch.Tensor, capacity: int) -> None:
        device = speech_table.device
        self.token = torch.zeros(1, dtype=torch.long, device=device)
        self.position = torch.zeros(1, dtype=torch.long, device=device)
        self.cache = FixedCache(decoder.config, capacity, device)
        self.logits = torch.zeros(0, device=device)
        self._decoder = decoder
        self._head = head
        self._speech_table = speech_table
        self._positions = torch.arange(capacity, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def capacity(self) -> int:
        return len(self._positions)

    @torch.inference_mode()
    def record(self) -> None:
        """Records the step, on a graphics card. The content of the cache is not touched where it is filled later."""
        warm_up = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        warm_up.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm_up):
            for _ in range(2):  # libraries choose and allocate at their first calls, which must not be recorded
                self._compute()
        torch.cuda.current_stream().wait_stream(warm_up)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self.logits = self._compute()

    @torch.inference_mode()
    def run(self) -> None:
        """``logits`` of the token after ``token``; then ``position`` is one further."""
        if self._graph is None:
            self.logits = self._compute()
        else:
            self._graph.replay()
        self.position += 1
        self.cache.length += 1

    def _compute(self) -> torch.Tensor:
        decoder, config = self._decoder, self._decoder.config
        turns = decoder.turns.index_select(0, self.position)
        bias = torch.where(self._positions <= self.position, 0.0, float("-inf"))
        hidden = F.embedding(self.token, self._speech_table)
        num_kv, size, half = config.num_kv_heads, config.head_size, config.head_size // 2
        width, num_turned = config.hidden_size, config.num_heads + config.num_kv_heads
        for layer, states in zip(decoder.layers, self.cache.layers, strict=True):
            mixed = layer.query_key_value(F.rms_norm(hidden, (width,), layer.input_norm, config.rms_norm_eps))
            pairs = mixed[:, : num_turned * size].view(1, num_turned, half, 2)
            torch.view_as_complex(pairs).mul_(turns)
            states.index_copy_(1, self.position, mixed[:, width:].view(2 * num_kv, 1, size))
            attended = self._attend(mixed[:, :width], states, bias, config)
            hidden = hidden + layer.output(attended)
            gate, up = layer.gate_up(F.rms_norm(hidden, (width,), layer.mlp_norm, config.rms_norm_eps)).chunk(2, dim=1)
            hidden = hidden + layer.down(F.silu(gate).mul_(up))
        return self._head(F.rms_norm(hidden, (width,), decoder.final_norm, config.rms_norm_eps))[0]

    def _attend(
        self, queries: torch.Tensor, states: torch.Tensor, bias: torch.Tensor, config: QwenConfig
    ) -> torch.Tensor:
        """(1, hidden): the query heads that share keys are rows of one product, as in ``Decoder``."""
        num_kv = config.num_kv_heads
        queries = queries.view(num_kv, config.num_heads // num_kv, config.head_size)
        keys, values = states[:num_kv], states[num_kv:]
        scores = torch.bmm(queries * config.head_size**-0.5, keys.transpose(1, 2)) + bias
        return torch.bmm(scores.softmax(dim=-1), values).view(1, config.hidden_size)
