"""``stages.FlowDecoder`` with streamed solver runs recorded as CUDA graphs; prompts and whole utterances run plainly."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

import torch

from studio.engines.cuda_graph.solver_memory import SolverMemory, solver_bytes
from studio.engines.library_errors import is_out_of_memory
from studio.model.config import FlowConfig, Precision
from studio.model.flow import FlowOptions
from studio.model.flow.blocks import FlowCaches
from studio.model.flow.caches import CacheBudget, CacheKind, CacheLayout
from studio.model.flow.decoder import CachedFlowDecoder, PromptState, StreamingFlow
from studio.model.flow.model import FlowModel, PromptTensors
from studio.model.flow.network import EncoderContext, FlowNetwork
from studio.model.stages import FlowPromptState

# Buffer sizes in blocks of one second, prompt included. Attention reads the whole buffer, so a line gets the smallest.
_CAPACITIES_BLOCKS = (12, 24, 36, 48, 72, 96, 144, 200, 300)
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

    def borrow(self, num_frames: int) -> BorrowedBuffers | None:
        """Return free buffers for ``num_frames``, or None if memory is too small."""
        block = self._layout.block_frames
        capacity = next((block * blocks for blocks in _CAPACITIES_BLOCKS if block * blocks >= num_frames), None)
        if capacity is None:
            return None
        with self._lock:
            idle = self._idle[capacity]
            memory = idle.pop() if idle else self._allocate(capacity)
        return None if memory is None else BorrowedBuffers(self, memory)

    def give_back(self, memory: SolverMemory) -> None:
        with self._lock:
            self._idle[memory.capacity].append(memory)

    def _allocate(self, capacity: int) -> SolverMemory | None:
        num_bytes = solver_bytes(self._layout, capacity, self._dtype)
        reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            self._free_idle()
            reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            return None
        try:
            return SolverMemory(self._model, self._layout, capacity, self._dtype, reservation)
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
        larger = self.pool.borrow(expected) or self.pool.borrow(needed)
        if larger is None:
            # A line that has not started can run on plain PyTorch, whose memory grows with the line.
            return self.buffers is None and super().make_room(num_tokens, model, budget)
        if self.buffers is None:
            blocks = self.estimator.blocks[0].tensors if self.estimator.blocks else None
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
