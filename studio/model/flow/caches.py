"""Streaming caches of the flow: attention keys and values and convolution tails, per solver step and row.

A frame sees all earlier frames and its own chunk of 50 frames (specification F8). A call with one chunk therefore sees
all cached frames and all of its own frames, and needs no mask. A call with several chunks hides later chunks from
earlier ones. Cached frames never change, since each solver step's state of an old frame is final. Decoding in several
calls therefore equals one run over the whole utterance.

Shapes: keys and values (steps, layers, rows, heads, frames, head_size); inputs (steps, layers, rows, frames, channels);
convolution tails (steps, rows, past_frames, channels). Keys and values of 8 bits have a scale for each head and frame,
(steps, layers, rows, heads, frames, 1); inputs are kept in 16 bits then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import prod
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.cpu_products import largest_of_rows
from studio.model.device_kind import DeviceKind
from studio.model.flow.layers import CausalConvolution, Context, KeysValues, SelfAttention, number_layers
from studio.model.flow.model import FlowModel, PromptTensors
from studio.model.flow.network import EncoderContext
from studio.model.torch_device import free_memory_bytes

# Prompt and speech of a usual line, in speech tokens. Caches are planned for this size before lengths are known.
USUAL_LINE_TOKENS = 500
# Each growth doubles the space for generated speech, within 4 and 8 seconds.
_FIRST_GROWTH_BLOCKS = 4
_MAX_GROWTH_BLOCKS = 8
_MAX_INT8 = 127
_MIN_LARGEST = 1e-20  # of rows of zeros
_ROWS = 2  # conditional and unconditional
# Larger matrix multiplications make better use of several cores; more blocks than this bring no gain.
_BLOCKS_AT_ONCE = 4
# Returns the attention and, for each query, the logarithm of the sum of the exponentials of its scores.
_FUSED_ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


class Allocation:
    """A reserved part of the budget, released when the object is deleted."""

    def __init__(self, budget: CacheBudget, num_bytes: int) -> None:
        self._budget = budget
        self.num_bytes = num_bytes

    def __del__(self) -> None:
        self._budget.give_back(self.num_bytes)


class CacheBudget:
    """Byte counter for all caches of one decoder. Thread-safe."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._used_bytes = 0
        # Re-entrant: garbage collection may release an allocation while this thread reserves.
        self._lock = threading.RLock()

    @property
    def free_bytes(self) -> int:
        return self.total_bytes - self._used_bytes

    def reserve(self, num_bytes: int) -> Allocation | None:
        """Return an allocation, or None if it exceeds the budget."""
        with self._lock:
            if num_bytes > self.free_bytes:
                return None
            self._used_bytes += num_bytes
            return Allocation(self, num_bytes)

    def give_back(self, num_bytes: int) -> None:
        with self._lock:
            self._used_bytes -= num_bytes


def default_budget_bytes(device: torch.device) -> int:
    """Return the share of the free memory of ``device``; the rest is for voices, other stages and other programs."""
    return int(DeviceKind(device.type).traits.line_memory_share * free_memory_bytes(device))


def max_concurrent_streams(device: torch.device, budget: CacheBudget, line_bytes: int) -> int:
    """Return how many lines with caches of ``line_bytes`` to decode concurrently.

    One more line fits in the budget, for interactive playback during a batch.
    """
    limit = DeviceKind(device.type).traits.max_concurrent_lines
    return max(1, min(limit, budget.total_bytes // max(1, line_bytes) - 1))


class CacheKind(Enum):
    """Content of attention caches. Inputs take half (CosyVoice3) or a quarter of the memory, but more time.

    Compared with keys and values of 8 bits, they take 0.94 or 0.47 of the memory.
    """

    KEYS_VALUES = "keys and values"
    INPUTS = "inputs"


class TensorForm(NamedTuple):
    """Shape and type of a tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def num_bytes(self) -> int:
        return self.dtype.itemsize * prod(self.shape)


@dataclass(frozen=True)
class CacheLayout:
    """Cache shapes of one part of the network, whose layers all have the same frame rate."""

    num_steps: int
    num_rows: int
    attentions: tuple[SelfAttention, ...]
    convolutions: tuple[CausalConvolution, ...]
    block_frames: int

    @classmethod
    def of(cls, modules: Sequence[nn.Module], *, num_steps: int, num_rows: int, block_frames: int) -> CacheLayout:
        attentions, convolutions = number_layers(modules)
        return cls(num_steps, num_rows, tuple(attentions), tuple(convolutions), block_frames)

    def block_tensors(self, kind: CacheKind, num_frames: int, dtype: torch.dtype) -> dict[str, TensorForm]:
        """Return the forms of the tensors of a block, by name."""
        if not self.attentions:
            return {}
        first = self.attentions[0]
        head = (self.num_steps, len(self.attentions), self.num_rows)
        if kind is CacheKind.INPUTS:
            wide = torch.float16 if dtype is torch.int8 else dtype
            return {"inputs": TensorForm((*head, num_frames, first.input_size), wide)}
        frames = (*head, first.num_heads, num_frames)
        forms = dict.fromkeys(("keys", "values"), TensorForm((*frames, first.head_size), dtype))
        if dtype is torch.int8:
            forms |= dict.fromkeys(("key_scales", "value_scales"), TensorForm((*frames, 1), torch.float32))
        return forms

    def tail_shapes(self) -> list[tuple[int, ...]]:
        return [(self.num_steps, self.num_rows, c.past_frames, c.in_channels) for c in self.convolutions]

    def block_bytes(self, kind: CacheKind, num_frames: int, dtype: torch.dtype) -> int:
        return sum(form.num_bytes for form in self.block_tensors(kind, num_frames, dtype).values())


@dataclass
class CacheBlock:
    """Storage for ``capacity`` consecutive frames from ``start`` on. Blocks of a prompt are full and read-only."""

    kind: CacheKind
    tensors: dict[str, torch.Tensor] = field(repr=False)
    start: int
    capacity: int
    reservation: Allocation | None = field(default=None, repr=False)

    @property
    def stop(self) -> int:
        return self.start + self.capacity

    @cached_property
    def _layers(self) -> list[list[tuple[torch.Tensor, ...]]]:
        """Views by step and layer, created once because each block needs thousands of them."""
        per_step = zip(*(tensor.unbind(0) for tensor in self.tensors.values()), strict=True)
        return [list(zip(*(tensor.unbind(0) for tensor in step), strict=True)) for step in per_step]

    def store(self, step: int, attention: SelfAttention, left_behind: Sequence[torch.Tensor], start: int) -> None:
        """Store the part of the inputs, or keys and values, from frame ``start`` on that falls into this block."""
        stop = start + left_behind[0].shape[-2]
        first, last = max(start, self.start), min(stop, self.stop)
        if first >= last:
            return
        source, place = slice(first - start, last - start), slice(first - self.start, last - self.start)
        views = self._layers[step][attention.layer]
        if self.kind is CacheKind.INPUTS:
            views[0][:, place] = left_behind[0][:, source]
            return
        parts = [part[:, :, source] for part in left_behind]
        if len(views) > len(parts):  # with scales
            parts = [tensor for kind in zip(*map(_quantized, parts), strict=True) for tensor in kind]
        for view, part in zip(views, parts, strict=True):
            view[:, :, place] = part

    def keys_values(self, step: int, attention: SelfAttention, stop: int) -> KeysValues:
        """Return keys and values of the frames before the absolute frame ``stop``."""
        views, count = self._layers[step][attention.layer], stop - self.start
        if self.kind is CacheKind.INPUTS:
            return attention.keys_values(views[0][:, :count], self.start)
        keys, values, *scales = (view[:, :, :count] for view in views)
        if scales:
            keys, values = (part.float().mul_(scale) for part, scale in zip((keys, values), scales, strict=True))
        return keys, values


def _quantized(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``x`` (..., head_size) in whole numbers, and the scale of each row (..., 1)."""
    scales = largest_of_rows(x).float().clamp_min(_MIN_LARGEST) / _MAX_INT8
    return (x / scales).round_(), scales


class StageCache:
    """Caches of one part of the network for one stream. Blocks of a shared prompt come first and are read-only."""

    def __init__(
        self,
        layout: CacheLayout,
        kind: CacheKind,
        *,
        cache_dtype: torch.dtype,
        tails: list[torch.Tensor],
        blocks: Sequence[CacheBlock] = (),
        num_frames: int = 0,
    ) -> None:
        self.layout = layout
        self.kind = kind
        self.cache_dtype = cache_dtype
        self.tails = tails
        self.blocks = list(blocks)
        self.num_frames = num_frames
        self._num_shared_frames = num_frames

    @classmethod
    def empty(cls, layout: CacheLayout, kind: CacheKind, like: torch.Tensor, cache_dtype: torch.dtype) -> StageCache:
        tails = [like.new_zeros(shape) for shape in layout.tail_shapes()]
        return cls(layout, kind, cache_dtype=cache_dtype, tails=tails)

    @property
    def num_bytes(self) -> int:
        tensors = [tensor for block in self.blocks for tensor in block.tensors.values()] + self.tails
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def fork(self) -> StageCache:
        """Return a continuation for a stream, which shares the blocks and copies the (small) tails."""
        return StageCache(
            self.layout,
            self.kind,
            cache_dtype=self.cache_dtype,
            tails=[tail.clone() for tail in self.tails],
            blocks=self.blocks,
            num_frames=self.num_frames,
        )

    def make_room(self, num_frames: int, budget: CacheBudget, device: torch.device) -> bool:
        """Allocate blocks for the next ``num_frames``; return False if memory or budget is insufficient."""
        if not self.layout.attentions:
            return True
        grid = self.layout.block_frames
        while (missing := self.num_frames + num_frames - self._capacity_stop) > 0:
            generated = (self._capacity_stop - self._num_shared_frames) // grid
            count = max(-(-missing // grid), min(max(generated, _FIRST_GROWTH_BLOCKS), _MAX_GROWTH_BLOCKS))
            if not self.add_block(count * grid, budget, device):
                return False
        return True

    def add_block(self, num_frames: int, budget: CacheBudget | None, device: torch.device) -> bool:
        """Append a block of ``num_frames``; return False if memory, or ``budget`` if given, is insufficient."""
        if not self.layout.attentions:
            return True
        forms = self.layout.block_tensors(self.kind, num_frames, self.cache_dtype)
        reservation = None
        if budget is not None:
            reservation = budget.reserve(self.layout.block_bytes(self.kind, num_frames, self.cache_dtype))
            if reservation is None:
                return False
        try:
            tensors = {name: torch.empty(form.shape, dtype=form.dtype, device=device) for name, form in forms.items()}
        except RuntimeError:  # out of memory, on CPU and GPU
            return False
        self.blocks.append(CacheBlock(self.kind, tensors, self._capacity_stop, num_frames, reservation=reservation))
        return True

    @property
    def _capacity_stop(self) -> int:
        return self.blocks[-1].stop if self.blocks else 0

    def context(self, step: int) -> CachedContext:
        return CachedContext(self, step)

    def advance(self, num_frames: int) -> None:
        self.num_frames += num_frames


@dataclass(frozen=True)
class CachedContext(Context):
    """Context of one call at one solver step: all cached frames and the frames of the call."""

    cache: StageCache
    step: int

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        tail = self.cache.tails[convolution.layer][self.step]
        extended = torch.cat([tail, x], dim=1)
        tail.copy_(extended[:, extended.shape[1] - convolution.past_frames :])
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        start = self.cache.num_frames
        stop = start + normed.shape[1]
        left_behind: Sequence[torch.Tensor] = (normed,)
        if self.cache.kind is CacheKind.INPUTS:
            queries = attention.queries(normed, start)
        else:
            queries, *left_behind = attention.projections(normed, start)
        for block in self.cache.blocks:
            block.store(self.step, attention, left_behind, start)
        segments = [
            block.keys_values(self.step, attention, min(block.stop, stop))
            for block in self.cache.blocks
            if block.start < stop
        ]
        bias = attention.score_bias(queries, start, stop)
        return attend_segments(queries, segments, bias, self.cache.layout.block_frames)


def attend_segments(
    queries: torch.Tensor, segments: Sequence[KeysValues], bias: torch.Tensor | None, block_frames: int
) -> torch.Tensor:
    """Return softmax attention over keys and values in several segments.

    The last keys belong to the frames of the queries, which begin on the grid and see no later blocks. The computation
    is in bfloat16 if the queries are, and else in at least float32.
    """
    dtype = queries.dtype
    if dtype is not torch.bfloat16:
        dtype = torch.promote_types(dtype, torch.float32)
    queries = queries.to(dtype)
    segments = [(keys.to(dtype), values.to(dtype)) for keys, values in segments]
    num_keys, frames = sum(keys.shape[2] for keys, _ in segments), queries.shape[2]
    attended = []
    for first in range(0, frames, block_frames):
        stop = min(first + block_frames, frames)
        num_visible = num_keys - frames + stop
        of_block = None if bias is None else bias[:, :, first:stop, :num_visible]
        attended.append(_attend(queries[:, :, first:stop], _first_keys(segments, num_visible), of_block))
    return attended[0] if len(attended) == 1 else torch.cat(attended, dim=2)


def _first_keys(segments: Sequence[KeysValues], count: int) -> list[KeysValues]:
    """Return the first ``count`` keys and values of ``segments``, without empty segments."""
    found = []
    for keys, values in segments:
        if length := min(count, keys.shape[2]):
            found.append((keys[:, :, :length], values[:, :, :length]))
        count -= length
    return found


def _attend(queries: torch.Tensor, segments: Sequence[KeysValues], bias: torch.Tensor | None) -> torch.Tensor:
    """Return attention over all keys. On a CPU, segments are attended to separately, and nothing is copied."""
    if queries.device.type != "cpu":
        keys, values = (torch.cat(part, dim=2) for part in zip(*segments, strict=True))
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    lengths = [keys.shape[2] for keys, _ in segments]
    biases = [None] * len(segments) if bias is None else torch.split(bias, lengths, dim=3)
    (attended, log_sum), *others = (
        _FUSED_ATTENTION(queries, keys, values, attn_mask=of_keys)
        for (keys, values), of_keys in zip(segments, biases, strict=True)
    )
    # The logarithms of the sums of exponentials determine the shares of the segments.
    for part, log_sum_of_part in others:
        share = torch.sigmoid(log_sum_of_part - log_sum)
        attended = torch.lerp(attended, part, share.unsqueeze(-1).to(part.dtype))
        log_sum = torch.logaddexp(log_sum, log_sum_of_part)
    joined: torch.Tensor = attended
    return joined


@dataclass(frozen=True)
class FlowLayouts:
    """Shapes of the caches of one model."""

    tokens: CacheLayout
    frames: CacheLayout
    estimator: CacheLayout

    @classmethod
    def of(cls, model: FlowModel) -> FlowLayouts:
        network, chunk_tokens, grid_frames = model.network, model.config.chunk_tokens, model.grid_frames
        return cls(
            tokens=CacheLayout.of(network.token_rate_modules(), num_steps=1, num_rows=1, block_frames=chunk_tokens),
            frames=CacheLayout.of(network.frame_rate_modules(), num_steps=1, num_rows=1, block_frames=grid_frames),
            estimator=CacheLayout.of(
                (network.estimator,),
                num_steps=len(model.steps),
                num_rows=_ROWS,
                block_frames=grid_frames,
            ),
        )

    def num_bytes(self, kind: CacheKind, num_tokens: int, num_frames: int, dtype: torch.dtype) -> int:
        return (
            self.tokens.block_bytes(CacheKind.KEYS_VALUES, num_tokens, dtype)
            + self.frames.block_bytes(CacheKind.KEYS_VALUES, num_frames, dtype)
            + self.estimator.block_bytes(kind, num_frames, dtype)
        )


@dataclass
class FlowCaches:
    """All caches of one run of the flow. The encoder's caches are small and always contain keys and values."""

    blocks_at_once: ClassVar[int] = _BLOCKS_AT_ONCE

    tokens: StageCache
    frames: StageCache
    estimator: StageCache

    @classmethod
    def empty(cls, layouts: FlowLayouts, kind: CacheKind, like: torch.Tensor, cache_dtype: torch.dtype) -> FlowCaches:
        return cls(
            tokens=StageCache.empty(layouts.tokens, CacheKind.KEYS_VALUES, like, cache_dtype),
            frames=StageCache.empty(layouts.frames, CacheKind.KEYS_VALUES, like, cache_dtype),
            estimator=StageCache.empty(layouts.estimator, kind, like, cache_dtype),
        )

    @property
    def num_tokens(self) -> int:
        return self.tokens.num_frames

    @property
    def num_bytes(self) -> int:
        return sum(part.num_bytes for part in self.parts().values())

    def parts(self) -> dict[str, StageCache]:
        return {"tokens": self.tokens, "frames": self.frames, "estimator": self.estimator}

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return all caches by name, as contiguous tensors."""
        named: dict[str, torch.Tensor] = {}
        for part_name, part in self.parts().items():
            for block in part.blocks:
                named |= {f"{part_name}.{name}": tensor for name, tensor in block.tensors.items()}
            named |= {f"{part_name}.tail.{index}": tail for index, tail in enumerate(part.tails)}
        return named

    def fork(self) -> FlowCaches:
        return FlowCaches(self.tokens.fork(), self.frames.fork(), self.estimator.fork())

    def make_room(self, num_tokens: int, model: FlowModel, budget: CacheBudget) -> bool:
        num_frames = model.config.frames_per_token * num_tokens
        return (
            self.tokens.make_room(num_tokens, budget, model.device)
            and self.frames.make_room(num_frames, budget, model.device)
            and self.estimator.make_room(num_frames, budget, model.device)
        )

    def make_prompt_room(self, num_tokens: int, model: FlowModel) -> bool:
        """Allocate exactly the size of a prompt, outside the budget, since the prompt cache limits the number of voices."""
        num_frames = model.config.frames_per_token * num_tokens
        return num_tokens == 0 or (
            self.tokens.add_block(num_tokens, None, model.device)
            and self.frames.add_block(num_frames, None, model.device)
            and self.estimator.add_block(num_frames, None, model.device)
        )

    def decode_at_once(
        self,
        model: FlowModel,
        voice: PromptTensors,
        tokens: Sequence[int],
        following: Sequence[int],
        before_step: Callable[[int], None] = lambda _step: None,
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of the next ``tokens``, which begin on the grid.

        ``before_step`` is called before each solver step, except where the steps are recorded.
        """

        def context_of_step(step: int) -> CachedContext:
            before_step(step)
            return self.estimator.context(step)

        contexts = EncoderContext(self.tokens.context(0), self.frames.context(0))
        mean = model.mean(tokens, following, contexts)
        mel = model.solve(voice, mean, self.estimator.num_frames, context_of_step)
        self.tokens.advance(len(tokens))
        self.frames.advance(mel.shape[0])
        self.estimator.advance(mel.shape[0])
        return mel

    def decode_blocks(
        self,
        model: FlowModel,
        voice: PromptTensors,
        tokens: Sequence[int],
        lookahead: Sequence[int],
        progress: Callable[[float], None] = lambda _share: None,
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of the next ``tokens``, for which space must have been allocated."""
        stride = model.config.chunk_tokens * self.blocks_at_once
        everything = [*tokens, *lookahead]
        mels = [torch.zeros(0, model.config.mel_bins, dtype=model.dtype, device=model.device)]
        for start in range(0, len(tokens), stride):
            stop = min(start + stride, len(tokens))
            following = everything[stop : stop + model.config.lookahead_tokens]

            def before_step(step: int, start: int = start, stop: int = stop) -> None:
                progress((start + (stop - start) * step / len(model.steps)) / len(tokens))

            mels.append(self.decode_at_once(model, voice, everything[start:stop], following, before_step))
            progress(stop / len(tokens))
        return torch.cat(mels)
