"""``stages.FlowDecoder`` with streamed solver runs recorded as CUDA graphs; prompts and whole utterances run without
graphs.

Keys and values of every solver step and layer are in buffers of fixed size; attention reads a whole buffer and masks the
unfilled part. A run is therefore the same computation for every block, and on a GPU one recorded graph instead of ten
thousand launches. A shorter block at the end of an utterance is padded, and the padding is masked.
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import ClassVar

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph import norm_kernel
from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder
from studio.engines.library_errors import is_out_of_memory
from studio.model.config import FlowConfig, Precision
from studio.model.flow import FlowOptions
from studio.model.flow.blocks import FlowCaches
from studio.model.flow.caches import Allocation, CacheBudget, CacheKind, CacheLayout
from studio.model.flow.decoder import CachedFlowDecoder, PromptState, StreamingFlow
from studio.model.flow.dit import DiT, override_rotary
from studio.model.flow.layers import CausalConvolution, Change, Conditions, Context, Norm, SelfAttention
from studio.model.flow.model import FlowModel, PromptTensors, check_length, cond_uncond, solve
from studio.model.flow.network import EncoderContext, FlowNetwork
from studio.model.stages import FlowDecoder, FlowPromptState

# Added to masked scores: exp(-1e4) is zero in every type, and -1e4 fits in float16.
_MASKED = -1e4


def solver_bytes(layout: CacheLayout, capacity: int, dtype: torch.dtype) -> int:
    """Return the size in bytes of keys and values for ``capacity`` frames; other tensors are small."""
    return sum(prod(_state_shape(layout, attention, capacity)) * dtype.itemsize for attention in layout.attentions)


class SolverMemory:
    """The solver of one line.

    ``capacity`` is the number of frames of prompt and speech, a multiple of the block. ``reservations`` are kept for the
    lifetime of the memory. ``states`` are the keys and values of each layer, by default empty.
    """

    def __init__(
        self,
        model: FlowModel,
        layout: CacheLayout,
        capacity: int,
        dtype: torch.dtype,
        *,
        reservations: tuple[Allocation, ...] = (),
        states: Iterable[torch.Tensor] | None = None,
    ) -> None:
        device, block, bins = model.device, layout.block_frames, model.config.mel_bins
        self.capacity = capacity
        self.reservations = reservations
        self._model = model
        self._layout = layout

        def zeros(*shape: int, kind: torch.dtype = model.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=kind, device=device)

        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        self._states = list(
            states or (zeros(*_state_shape(layout, attention, capacity), kind=dtype) for attention in layout.attentions)
        )
        self._tails = [zeros(*shape) for shape in layout.tail_shapes()]
        self._x, self._mean, self._prompt_mel, self._mel = (zeros(block, bins) for _ in range(4))
        self._speaker = zeros(bins)
        self._positions = torch.zeros(block, dtype=torch.long, device=device)
        self._bias = zeros(1, 1, block, capacity, kind=dtype)
        estimator = model.network.estimator
        self._rotary = estimator.rotary_embed if isinstance(estimator, DiT) else None
        num_turned = 0 if self._rotary is None else len(self._rotary.inv_freq)
        self._rotations = zeros(block, num_turned, kind=model.dtype.to_complex())
        # Values of the prompt whose state is in this memory. Lines write behind it, so it stays for the next line.
        self._prompt: weakref.ref[torch.Tensor] | None = None
        self._num_prompt_frames = 0
        self._is_finite = torch.ones((), dtype=torch.bool, device=device)
        self._recorded = CapturedGraph(device, (*self._tails, self._is_finite))
        self._order = StreamOrder(device)

    def has_prompt(self, blocks: Mapping[str, torch.Tensor] | None) -> bool:
        """Return whether this memory contains the state of a prompt, ``blocks`` as in ``StageCache``."""
        return blocks is not None and self._prompt is not None and self._prompt() is blocks["values"]

    @property
    def has_any_prompt(self) -> bool:
        """Whether this memory contains the state of a prompt that is still in use."""
        return self._prompt is not None and self._prompt() is not None

    @torch.inference_mode()
    def start_from(self, blocks: Mapping[str, torch.Tensor] | None, tails: list[torch.Tensor]) -> None:
        """Copy a prompt's state, unless it is here: ``blocks`` and ``tails`` as in ``StageCache``."""
        with self._order.turn():
            self._clear_not_finite()
            if blocks is None:
                self._prompt = None  # the line writes from the first frame on
            elif not self.has_prompt(blocks):
                self._prompt = weakref.ref(blocks["values"])
                self._num_prompt_frames = num_frames = blocks["values"].shape[-2]
                for layer in range(len(self._layout.attentions)):
                    keys, values = self._states[layer][..., :num_frames, :].unbind(1)
                    keys.copy_(blocks["keys"][:, layer])
                    values.copy_(blocks["values"][:, layer])
            self._copy_tails(tails)

    @torch.inference_mode()
    def continue_from(self, other: SolverMemory, num_frames: int) -> None:
        """Copy the state of a line from ``other``, in which it no longer fits, except a prompt that is here."""
        with other._order.turn(), self._order.turn():
            self._clear_not_finite()
            values = None if self._prompt is None else self._prompt()
            has_prompt = values is not None and other._prompt is not None and values is other._prompt()
            speech = slice(self._num_prompt_frames if has_prompt else 0, num_frames)
            for ours, theirs in zip(self._states, other._states, strict=True):
                ours[..., speech, :] = theirs[..., speech, :]
            self._prompt, self._num_prompt_frames = other._prompt, other._num_prompt_frames
            self._copy_tails(other._tails)

    @torch.inference_mode()
    def moved_to(self, capacity: int, num_frames: int, extra: Allocation) -> SolverMemory:
        """Return larger memory with the state of a line of ``num_frames``. Layers move one by one and are freed here.

        ``extra`` is the reservation for what this adds. This memory cannot be used any more, even if memory runs out.
        """
        with self._order.turn():
            self._clear_not_finite()
            larger = SolverMemory(
                self._model,
                self._layout,
                capacity,
                self._states[0].dtype,
                reservations=(*self.reservations, extra),
                states=self._moved_states(capacity, num_frames),
            )
            larger._prompt, larger._num_prompt_frames = self._prompt, self._num_prompt_frames
            with larger._order.turn():
                larger._copy_tails(self._tails)
        return larger

    def _moved_states(self, capacity: int, num_frames: int) -> Iterator[torch.Tensor]:
        for index, attention in enumerate(self._layout.attentions):
            old = self._states[index]
            new = torch.zeros(_state_shape(self._layout, attention, capacity), dtype=old.dtype, device=old.device)
            new[..., :num_frames, :] = old[..., :num_frames, :]
            self._states[index] = old.new_empty(0)
            if old.device.type == "cuda":
                # It was allocated for another stream, whose later work must not overwrite it yet.
                old.record_stream(torch.cuda.current_stream(old.device))
            del old
            yield new

    @property
    def is_complete(self) -> bool:
        """Whether no layer was moved to other memory."""
        return all(len(tensor) for tensor in self._states)

    def finish(self) -> None:
        """Wait for all work on this memory, including that of cancelled lines."""
        self._order.finish()

    def _clear_not_finite(self) -> None:
        """Zero any non-finite values of an earlier line, because a mask does not hide them."""
        if not self._is_finite:
            for tensor in self._states:
                tensor.zero_()
            self._prompt = None
            self._is_finite.fill_(True)

    def _copy_tails(self, tails: list[torch.Tensor]) -> None:
        for ours, theirs in zip(self._tails, tails, strict=True):
            ours.copy_(theirs)

    @torch.inference_mode()
    def record(self) -> None:
        """Record the run. The memory must not be in use; a line that starts in it replaces what the run has written."""
        with self._order.turn():
            self._prompt = None
            self._recorded.run(self._compute)

    @torch.inference_mode()
    def solve(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of at most one block from frame ``start``; earlier blocks must be solved
        here.
        """
        with self._order.turn():
            self._set_inputs(voice, mean, start)
            self._recorded.run(self._compute)
            return self._mel[: mean.shape[0]].clone()

    def _set_inputs(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> None:
        """Copy the inputs of a run; zeros beyond the end of ``mean``."""
        block = self._layout.block_frames
        stop = start + mean.shape[0]
        check_length(stop)
        assert start + block <= self.capacity
        for buffer, part in (
            (self._x, self._model.noise[start : start + block]),
            (self._mean, mean),
            (self._prompt_mel, voice.mel[start:stop]),
        ):
            buffer.zero_()[: len(part)] = part
        self._speaker.copy_(voice.speaker)
        torch.arange(start, start + block, out=self._positions)
        self._bias.fill_(_MASKED)
        self._bias[..., :stop] = 0.0
        if self._rotary is not None:
            self._rotations.copy_(self._rotary.rotations(start, block))

    def _compute(self) -> None:
        model = self._model
        given = (self._mean, self._prompt_mel, self._speaker)
        conditions = Conditions(*(cond_uncond(part) for part in given))

        def velocity(step: int, x: torch.Tensor) -> torch.Tensor:
            context = _FixedContext(self, step)
            return model.network.estimator.velocity(x, conditions, model.modulations[step], context)

        with nullcontext() if self._rotary is None else override_rotary(self._rotations):
            self._mel.copy_(solve(self._x, model.steps, model.config.solver.guidance_scale, velocity))
        self._is_finite.logical_and_(self._mel.isfinite().all())


@dataclass(frozen=True)
class _FixedContext(Context):
    """The context of a block at one solver step."""

    memory: SolverMemory
    step: int

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        tail = self.memory._tails[convolution.layer][self.step]
        extended = torch.cat([tail, x], dim=1)
        tail.copy_(extended[:, extended.shape[1] - convolution.past_frames :])
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        memory, layer = self.memory, attention.layer
        states = memory._states[layer][self.step]
        # Rotary positions come from ``override_rotary``.
        projected = attention.project(normed, 0)
        own = projected.to(states.dtype)
        states.index_copy_(3, memory._positions, own[1:])
        assert attention.score_bias(own[0], 0, states.shape[3]) is None, "estimators have no other kind of position"
        attended = F.scaled_dot_product_attention(own[0], states[0], states[1], attn_mask=memory._bias)
        return attended.to(projected.dtype)

    def add_and_norm(
        self, x: torch.Tensor, change: Change | None, norm: Norm, dtype: torch.dtype | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return norm_kernel.add_and_norm(x, change, norm, dtype) or super().add_and_norm(x, change, norm, dtype)

    def norm_and_mish(self, x: torch.Tensor, norm: Norm, addend: torch.Tensor) -> torch.Tensor:
        activated = norm_kernel.norm_and_mish(x, norm, addend)
        return super().norm_and_mish(x, norm, addend) if activated is None else activated


def _state_shape(layout: CacheLayout, attention: SelfAttention, capacity: int) -> tuple[int, ...]:
    """Return the shape of one layer's keys and values."""
    return layout.num_steps, 2, layout.num_rows, attention.num_heads, capacity, attention.head_size


# Buffer sizes in blocks of one second, prompt included. Attention reads the whole buffer, so a line gets the smallest.
_CAPACITIES_BLOCKS = (12, 24, 36, 48, 72, 96, 144, 200, 300)
# With voices of two to fourteen seconds, and longer ones.
_USUAL_CAPACITIES_BLOCKS = (24, 12, 36, 48)
# Typical length of a line: growing in the middle of a line may require another recording.
_EXPECTED_BLOCKS = 10
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


class SolverBufferPool:
    """Pool of solver memory, one per concurrent line, reused by later lines."""

    def __init__(self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget) -> None:
        self._model = model
        self._layout = layout
        self._dtype = dtype
        self._budget = budget
        self._idle: defaultdict[int, list[SolverMemory]] = defaultdict(list)
        # Re-entrant: garbage collection may return buffers while this thread borrows.
        self._lock = threading.RLock()

    def borrow(self, num_frames: int, prompt: Mapping[str, torch.Tensor] | None = None) -> BorrowedBuffers | None:
        """Return free buffers for ``num_frames``, or None if memory is too small.

        Buffers that contain ``prompt`` are preferred, then those without a prompt, then the least recently used ones.
        """
        capacity = self._capacity_for(num_frames)
        if capacity is None:
            return None
        with self._lock:
            idle = self._idle[capacity]  # in the order of their last use
            memory = min(idle, key=lambda each: (not each.has_prompt(prompt), each.has_any_prompt), default=None)
            if memory is None:
                memory = self._allocate(capacity)
            else:
                idle.remove(memory)
        return None if memory is None else BorrowedBuffers(self, memory)

    def record(self, num_blocks: int) -> None:
        """Allocate and record memory of ``num_blocks`` that remains free, if it takes at most half of the free budget.

        Without any memory, it may take the whole budget.
        """
        capacity = num_blocks * self._layout.block_frames
        with self._lock:
            num_bytes, free_bytes = solver_bytes(self._layout, capacity, self._dtype), self._budget.free_bytes
            is_first = not any(self._idle.values())
            if self._idle[capacity] or num_bytes > (free_bytes if is_first else free_bytes // 2):
                return
            memory = self._allocate(capacity)
        if memory is not None:
            memory.record()
            self.give_back(memory)

    def grow(self, buffers: BorrowedBuffers, num_frames: int, num_used_frames: int) -> bool:
        """Move a line of ``num_used_frames`` to larger buffers where memory does not suffice for both sizes.

        Return whether there was enough memory. If not, the line must be computed without buffers.
        """
        old, capacity = buffers.memory, self._capacity_for(num_frames)
        if capacity is None:
            return False
        larger_bytes, old_bytes = (solver_bytes(self._layout, size, self._dtype) for size in (capacity, old.capacity))
        one_layer_bytes = -(-old_bytes // len(self._layout.attentions))
        with self._lock:
            self._free_idle()
            extra = self._budget.reserve(larger_bytes - old_bytes)
            moving = self._budget.reserve(one_layer_bytes)  # until this method returns
        if extra is None or moving is None:
            return False
        try:
            buffers.memory = old.moved_to(capacity, num_used_frames, extra)
            old.finish()  # torch may hand the rest of it to another stream immediately
        except RuntimeError as error:
            if is_out_of_memory(error):
                return False
            raise
        return True

    def give_back(self, memory: SolverMemory) -> None:
        if memory.is_complete:
            with self._lock:
                self._idle[memory.capacity].append(memory)

    def _capacity_for(self, num_frames: int) -> int | None:
        """Return the smallest capacity for ``num_frames``, or None if they are too many."""
        block = self._layout.block_frames
        return next((block * blocks for blocks in _CAPACITIES_BLOCKS if block * blocks >= num_frames), None)

    def _allocate(self, capacity: int) -> SolverMemory | None:
        num_bytes = solver_bytes(self._layout, capacity, self._dtype)
        reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            self._free_idle()
            reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            return None
        try:
            return SolverMemory(self._model, self._layout, capacity, self._dtype, reservations=(reservation,))
        except RuntimeError as error:
            if is_out_of_memory(error):
                return None
            raise

    def _free_idle(self) -> None:
        """Free all unused buffers."""
        idle, self._idle = self._idle, defaultdict(list)
        for memory in chain.from_iterable(idle.values()):
            memory.finish()  # torch may hand it to another stream immediately


class BorrowedBuffers:
    """Buffers that return to their pool when this object is freed."""

    def __init__(self, pool: SolverBufferPool, memory: SolverMemory) -> None:
        self._pool = pool
        self.memory = memory

    def __del__(self) -> None:
        self._pool.give_back(self.memory)


@dataclass
class PooledCaches(FlowCaches):
    """Caches of one line: the encoder's as usual, the estimator's in buffers borrowed from ``pool``.

    ``estimator`` holds the prompt's state and the frame count.
    """

    blocks_at_once: ClassVar[int] = 1
    pool: SolverBufferPool
    buffers: BorrowedBuffers | None = None
    has_begun: bool = False

    def fork(self, left_context_frames: int | None) -> PooledCaches:
        plain = super().fork(left_context_frames)
        return PooledCaches(plain.tokens, plain.frames, plain.estimator, self.pool)

    def make_room(self, num_tokens: int, model: FlowModel, budget: CacheBudget) -> bool:
        """See ``FlowCaches``. A line that outgrows its buffers moves to larger ones."""
        num_frames, block = model.config.frames_per_token * num_tokens, model.grid_frames
        if not (
            self.tokens.make_room(num_tokens, budget, model.device)
            and self.frames.make_room(num_frames, budget, model.device)
        ):
            return False
        done = self.estimator.num_frames
        needed = done + -(-num_frames // block) * block
        if self.buffers is not None and self.buffers.memory.capacity >= needed:
            return True
        if self.buffers is None and self.has_begun:
            return super().make_room(num_tokens, model, budget)
        expected = needed if self.buffers is not None else max(needed, done + _EXPECTED_BLOCKS * block)
        blocks = self.estimator.blocks[0].tensors if self.estimator.blocks else None
        larger = self.pool.borrow(expected, blocks) or self.pool.borrow(needed, blocks)
        if larger is None and self.buffers is not None:
            return self.pool.grow(self.buffers, needed, done)
        if larger is None:
            # A line that has not started can run on plain PyTorch, whose memory grows with the line.
            return super().make_room(num_tokens, model, budget)
        if self.buffers is None:
            larger.memory.start_from(blocks, self.estimator.tails)
        else:
            larger.memory.continue_from(self.buffers.memory, done)
        self.buffers = larger
        return True

    def decode_at_once(
        self, model: FlowModel, voice: PromptTensors, tokens: Sequence[int], following: Sequence[int]
    ) -> torch.Tensor:
        self.has_begun = True
        if self.buffers is None:
            return super().decode_at_once(model, voice, tokens, following)
        mean = model.mean(tokens, following, EncoderContext(self.tokens.context(0), self.frames.context(0)))
        mel = self.buffers.memory.solve(voice, mean, self.estimator.num_frames)
        self.tokens.advance(len(tokens))
        self.frames.advance(mel.shape[0])
        self.estimator.advance(mel.shape[0])
        return mel


class GraphedFlowDecoder(CachedFlowDecoder):
    """``FlowDecoder`` whose streams replay a recorded solver run per block."""

    def __init__(
        self,
        network: FlowNetwork,
        config: FlowConfig,
        *,
        precision: Precision,
        options: FlowOptions,
        after_layer: Callable[[], None],
    ) -> None:
        super().__init__(network, config, precision=precision, options=options, after_layer=after_layer)
        self._pool = SolverBufferPool(self._model, self._layouts.estimator, self._cache_dtype, self.budget)

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        return (partial(self._pool.record, num_blocks) for num_blocks in _USUAL_CAPACITIES_BLOCKS)

    def with_steps(self, num_steps: int) -> FlowDecoder | None:
        """See ``stages.FlowDecoder``. Each number of steps has its own recordings; the budget is shared."""
        decoder = super().with_steps(num_steps)
        if isinstance(decoder, GraphedFlowDecoder):
            layout = decoder._layouts.estimator
            decoder._pool = SolverBufferPool(decoder._model, layout, decoder._cache_dtype, decoder.budget)
        return decoder

    @torch.inference_mode()
    def open_stream(self, state: FlowPromptState) -> StreamingFlow:
        """See ``stages.FlowDecoder``; ``state`` must come from this decoder."""
        assert isinstance(state, PromptState), "a prompt state belongs to the decoder that made it"
        caches = state.caches
        if caches is not None and caches.estimator.kind is CacheKind.KEYS_VALUES:
            pooled = PooledCaches(caches.tokens, caches.frames, caches.estimator, self._pool)
            state = replace(state, caches=pooled)
        return super().open_stream(state)


def load_graphed_flow(path: Path, config: FlowConfig, precision: Precision, device: str) -> GraphedFlowDecoder:
    """Load the flow. With 16-bit precision the caches are 16-bit as well."""
    options = FlowOptions(cache_dtype=_HALF_TYPES.get(precision))
    return GraphedFlowDecoder.load(path, config, precision, device, options)
