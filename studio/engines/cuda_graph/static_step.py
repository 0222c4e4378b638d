"""One decoding step of the language model, and sampling, for several lines at any positions in fixed memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph.attention_kernel import step_attention
from studio.engines.device_sampling import draw_tokens
from studio.model.config import QwenConfig
from studio.model.options import SamplingOptions
from studio.model.speech_lm.decoder import KVCache
from studio.model.speech_lm.torch_lm import NEVER, CachedSpeechLM, CacheT, TorchSpeechLM
from studio.model.speech_lm.transformer_decoder import RelativeCache
from studio.model.speech_lm.transformer_lm import TransformerSpeechLM

# The token for scores that are not finite. It must not index a table: that would invalidate the CUDA context.
NOT_A_NUMBER = -1


class StaticStep(ABC, Generic[CacheT]):
    """Computes ``logits`` (rows, ids) from ``token`` (rows,) at ``position`` (rows,) of ``num_rows`` lines.

    The same function as advancing the plain model by one token. Attention reads the whole cache of a row and masks the
    unfilled part, because sizes must not change. Results for a token below zero are not used. A row without a line
    stays at position 0, which the next line's prompt overwrites.
    """

    def __init__(self, layers: tuple[torch.Tensor, ...], speech_table: torch.Tensor, capacity: int) -> None:
        """``layers`` are zeros, one row per line, because masked values are multiplied by zero, which keeps a NaN."""
        device = speech_table.device
        self.num_rows = len(layers[0])
        self.capacity = capacity
        self.layers = layers
        self.token = torch.zeros(self.num_rows, dtype=torch.long, device=device)
        self.position = torch.zeros(self.num_rows, dtype=torch.long, device=device)
        self.positions = torch.arange(capacity, device=device)
        self._speech_table = speech_table

    @abstractmethod
    def cache(self, row: int) -> CacheT:
        """Return the row's cache, to be filled with the prompt."""

    @abstractmethod
    def logits(self, num_rows: int) -> torch.Tensor:
        """Return the scores (num_rows, ids) of the token that follows ``token`` in each row; positions stay."""

    @torch.inference_mode()
    def clear(self, row: int) -> None:
        """Zero a row that may contain values that are not finite, because a mask does not hide them."""
        for layer in self.layers:
            layer[row].zero_()

    @torch.inference_mode()
    def copy_rows(self, other: StaticStep[CacheT]) -> None:
        """Copy the rows of ``other``, which has fewer, into the first rows."""
        pairs = zip(
            (*self.layers, self.token, self.position), (*other.layers, other.token, other.position), strict=True
        )
        for ours, theirs in pairs:
            ours[: other.num_rows] = theirs

    def embed(self, num_rows: int) -> torch.Tensor:
        """Return the embeddings (num_rows, hidden) of ``token``."""
        return F.embedding(self.token[:num_rows].clamp(min=0), self._speech_table)


class QwenStep(StaticStep[KVCache]):
    """A step of CosyVoice2 and CosyVoice3."""

    def __init__(self, plain: TorchSpeechLM, capacity: int, *, num_rows: int = 1) -> None:
        config, speech_table = plain.decoder.config, plain.inputs.speech
        shape = (config.num_layers, num_rows, 2 * config.num_kv_heads, capacity, config.head_size)
        self._states = torch.zeros(shape, device=speech_table.device)
        super().__init__(self._states.unbind(0), speech_table, capacity)
        self._decoder = plain.decoder
        self._head = plain.head
        self._attention = step_attention(config, plain.decoder.turns)

    def cache(self, row: int) -> KVCache:
        """See ``StaticStep``. Lines end at its capacity, so it does not grow."""
        return KVCache(self._decoder.config, self._states[:, row])

    @torch.inference_mode()
    def logits(self, num_rows: int) -> torch.Tensor:
        position = self.position[:num_rows]
        attention = self._torch_attention(position) if self._attention is None else self._attention

        def attend(layer: int, mixed: torch.Tensor) -> torch.Tensor:
            return attention(mixed, position, self.layers[layer][:num_rows])

        return self._head(self._decoder.norm(self._decoder.run_layers(self.embed(num_rows), attend)))

    def _torch_attention(
        self, position: torch.Tensor
    ) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]:
        """Return a function with the interface of ``StepAttention``, for one step."""
        config, num_rows = self._decoder.config, len(position)
        num_kv, size, width = config.num_kv_heads, config.head_size, config.hidden_size
        num_turned = config.num_heads + num_kv
        turns = self._decoder.turns.index_select(0, position)
        bias = torch.where(self.positions <= position[:, None], 0.0, float("-inf"))[:, None, None]
        index = position.view(num_rows, 1, 1, 1).expand(-1, 2 * num_kv, 1, size)

        def attend(mixed: torch.Tensor, position: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
            del position  # in ``index``
            pairs = mixed[:, : num_turned * size].view(num_rows, num_turned, size // 2, 2)
            torch.view_as_complex(pairs).mul_(turns)
            states.scatter_(2, index, mixed[:, width:].view(num_rows, 2 * num_kv, 1, size))
            return self._attend(mixed[:, :width], states, bias, config)

        return attend

    def _attend(
        self, queries: torch.Tensor, states: torch.Tensor, bias: torch.Tensor, config: QwenConfig
    ) -> torch.Tensor:
        """Return (rows, hidden); query heads that share keys are rows of one multiplication, as in ``Decoder``."""
        num_kv = config.num_kv_heads
        queries = queries.view(len(states), num_kv, config.num_heads // num_kv, config.head_size)
        keys, values = states[:, :num_kv], states[:, num_kv:]
        scores = torch.matmul(queries * config.head_size**-0.5, keys.transpose(2, 3)) + bias
        return torch.matmul(scores.softmax(dim=-1), values).view(len(states), config.hidden_size)


class RelativeRowCache(RelativeCache):
    """The cache of one line: a row of shared memory of fixed size."""

    def __init__(self, layers: tuple[torch.Tensor, ...]) -> None:
        self.length = 0
        self.layers = layers


class RelativeStep(StaticStep[RelativeCache]):
    """A step of CosyVoice-300M."""

    def __init__(self, plain: TransformerSpeechLM, capacity: int, *, num_rows: int = 1) -> None:
        config, speech_table = plain.decoder.config, plain.inputs.speech
        shape = (num_rows, 2, config.num_heads, capacity, config.head_size)
        layers = tuple(torch.zeros(shape, device=speech_table.device) for _ in range(config.num_blocks))
        super().__init__(layers, speech_table, capacity)
        self._decoder = plain.decoder
        self._head = plain.head
        self._distances = plain.decoder.distance_tables(capacity)

    def cache(self, row: int) -> RelativeCache:
        return RelativeRowCache(tuple(layer[row] for layer in self.layers))

    @torch.inference_mode()
    def logits(self, num_rows: int) -> torch.Tensor:
        config = self._decoder.config
        num_heads, size = config.num_heads, config.head_size
        position = self.position[:num_rows, None]
        is_later = (self.positions > position)[:, None]
        # The column of each position's distance from the line's own position.
        column = (self.capacity - 1 - position + self.positions).clamp(max=self.capacity - 1)
        column = column[:, None].expand(-1, num_heads, -1)
        index = position.view(num_rows, 1, 1, 1, 1).expand(-1, 2, num_heads, 1, size)
        hidden = self._decoder.project_input(self.embed(num_rows))
        for layer, all_states, distances in zip(self._decoder.layers, self.layers, self._distances, strict=True):
            states = all_states[:num_rows]
            mixed = layer.query_key_value(layer.attention_norm(hidden)).view(num_rows, 3, num_heads, size)
            states.scatter_(3, index, mixed[:, 1:, :, None])
            queries = mixed[:, 0]
            by_distance = torch.matmul(queries.transpose(0, 1) + layer.distance_bias, distances).transpose(0, 1)
            scores = torch.matmul(states[:, 0], queries[..., None] * size**-0.5)[..., 0]
            scores = (scores + by_distance.gather(2, column)).masked_fill(is_later, float("-inf"))
            attended = torch.matmul(scores.softmax(dim=-1)[:, :, None], states[:, 1])
            hidden = layer.finish(hidden, attended.reshape(num_rows, config.size))
        return self._head(self._decoder.final_norm(hidden))


def static_step(plain: CachedSpeechLM[Any], capacity: int, num_rows: int) -> StaticStep[Any]:
    """Allocate memory for ``num_rows`` lines of up to ``capacity`` positions."""
    if isinstance(plain, TransformerSpeechLM):
        return RelativeStep(plain, capacity, num_rows=num_rows)
    assert isinstance(plain, TorchSpeechLM)
    return QwenStep(plain, capacity, num_rows=num_rows)


class GpuSampler:
    """Sampling state of several lines, one per row, in fixed memory; does not synchronise with the GPU.

    An id from ``first_end`` on ends a line. It is not drawn before the line has ``min_tokens`` tokens.
    """

    def __init__(
        self, options: SamplingOptions, first_end: int, capacity: int, device: torch.device, *, num_rows: int = 1
    ) -> None:
        self._options = options
        self._first_end = first_end
        self._points = torch.zeros(num_rows, capacity, dtype=torch.float64, device=device)
        self._recent = torch.full((num_rows, options.window_tokens), -1, dtype=torch.long, device=device)
        self._num_drawn = torch.zeros(num_rows, 1, dtype=torch.long, device=device)
        self._min_tokens = torch.zeros(num_rows, 1, dtype=torch.long, device=device)

    @property
    def state(self) -> tuple[torch.Tensor, ...]:
        """The tensors that sampling changes."""
        return self._recent, self._num_drawn

    @torch.inference_mode()
    def begin(self, points: torch.Tensor, *, min_tokens: int, row: int = 0) -> None:
        """Set up a row for a new line. ``points`` (tokens,) float64 are its random numbers in 0..1."""
        self._points[row, : len(points)] = points.to(self._points.device)
        self._recent[row].fill_(-1)
        self._num_drawn[row].zero_()
        self._min_tokens[row].fill_(min_tokens)

    @torch.inference_mode()
    def copy_rows(self, other: GpuSampler) -> None:
        """Copy the rows of ``other``, which has fewer, into the first rows."""
        for name in ("_points", "_recent", "_num_drawn", "_min_tokens"):
            theirs = getattr(other, name)
            getattr(self, name)[: len(theirs)] = theirs

    @torch.inference_mode()
    def draw(self, logits: torch.Tensor, token: torch.Tensor, *, first_row: int = 0) -> None:
        """Sample the next token of each row of ``logits`` (rows, ids) into ``token`` (rows,), and record it.

        Writes ``NOT_A_NUMBER`` for rows whose scores are not finite.
        """
        rows = slice(first_row, first_row + len(logits))
        recent, num_drawn, points = self._recent[rows], self._num_drawn[rows], self._points[rows]
        scores = logits.float().clone()
        scores[:, self._first_end :].masked_fill_(num_drawn < self._min_tokens[rows], NEVER)
        # Rows of finished lines are still sampled, beyond their last random number.
        point = points.gather(1, num_drawn.clamp(max=points.shape[1] - 1))
        drawn, is_number = draw_tokens(scores, point[:, 0], recent, self._options)
        drawn = torch.where(is_number, drawn, NOT_A_NUMBER)
        token.copy_(drawn)
        recent.scatter_(1, num_drawn % self._options.window_tokens, drawn[:, None])
        num_drawn += 1
