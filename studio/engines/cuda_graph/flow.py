"""The flow's promise (``stages.FlowDecoder``) kept by recorded solver runs; prompts and whole utterances stay plain."""

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
from studio.engines.memory import is_out_of_memory
from studio.model.config import FlowConfig, Precision
from studio.model.flow import FlowOptions
from studio.model.flow.blocks import FlowCaches
from studio.model.flow.budget import CacheBudget
from studio.model.flow.caches import CacheKind, CacheLayout
from studio.model.flow.decoder import CachedFlowDecoder, load_flow
from studio.model.flow.encoder import EncoderContext
from studio.model.flow.model import FlowModel, PromptTensors
from studio.model.flow.network import FlowNetwork
from studio.model.flow.prompt_state import PromptState
from studio.model.flow.stream import StreamingFlow
from studio.model.stages import FlowPromptState

# Room for prompt and speech, in blocks of a second. Attention reads all of it, so most lines get little.
_CAPACITIES_BLOCKS = (12, 24, 36, 48, 72, 96, 144, 200, 300)
# What most sentences take: moving in mid-line to larger memory may mean reference_io once more.
_EXPECTED_BLOCKS = 10
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


class SolverBufferPool:
    """Memory for the lines that are decoded at the same time, a context each; kept for later lines."""

    def __init__(self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget) -> None:
        self._model = model
        self._layout = layout
        self._dtype = dtype
        self._budget = budget
        self._idle: defaultdict[int, list[SolverMemory]] = defaultdict(list)
        # Re-entrant: a loan may be collected, and given back, while this thread borrows.
        self._lock = threading.RLock()

    def borrow(self, num_frames: int) -> BorrowedBuffers | None:
        """Memory for ``num_frames`` that no other line uses; None where there is no room for it."""
        block = self._layout.block_frames
        capacity = next((block * blocks for blocks in _CAPACITIES_BLOCKS if block * blocks >= num_frames), None)
        if capacity is None:
            return None
        with self._lock:
            idle = self._idle[capacity]
            memory = idle.pop() if idle else self._made(capacity)
        return None if memory is None else BorrowedBuffers(self, memory)

    def give_back(self, memory: SolverMemory) -> None:
        with self._lock:
            self._idle[memory.capacity].append(memory)

    def _made(self, capacity: int) -> SolverMemory | None:
        num_bytes = solver_bytes(self._layout, capacity, self._dtype)
        reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            self._give_up_idle()
            reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            return None
        try:
            return SolverMemory(self._model, self._layout, capacity, self._dtype, reservation)
        except RuntimeError as error:
            if is_out_of_memory(error):
                return None
            raise

    def _give_up_idle(self) -> None:
        """Memory of other sizes, which nobody uses now."""
        idle, self._idle = self._idle, defaultdict(list)
        for memory in chain.from_iterable(idle.values()):
            memory.finish()  # torch may give it to another stream at once


class BorrowedBuffers:
    """Memory that goes back to its pool when the object is gone."""

    def __init__(self, pool: SolverBufferPool, memory: SolverMemory) -> None:
        self._pool = pool
        self.memory = memory

    def __del__(self) -> None:
        self._pool.give_back(self.memory)


@dataclass
class PooledCaches(FlowCaches):
    """One line's: the encoder's caches as always, the estimator's in memory borrowed from ``pool``.

    ``estimator`` holds what the prompt left behind, and counts.
    """

    blocks_at_once: ClassVar[int] = 1
    pool: SolverBufferPool
    loan: BorrowedBuffers | None = None
    has_begun: bool = False

    def fork(self, left_context_frames: int | None) -> PooledCaches:
        plain = super().fork(left_context_frames)
        return PooledCaches(plain.tokens, plain.frames, plain.estimator, self.pool)

    def make_room(self, num_tokens: int, model: FlowModel, budget: CacheBudget) -> bool:
        """See ``FlowCaches``. A line that has become too long for its memory moves to larger."""
        num_frames, block = model.config.frames_per_token * num_tokens, model.grid_frames
        if not (
            self.tokens.make_room(num_tokens, budget, model.device)
            and self.frames.make_room(num_frames, budget, model.device)
        ):
            return False
        done = self.estimator.num_frames
        needed = done + -(-num_frames // block) * block
        if self.loan is not None and self.loan.memory.capacity >= needed:
            return True
        if self.loan is None and self.has_begun:
            return super().make_room(num_tokens, model, budget)
        expected = needed if self.loan is not None else max(needed, done + _EXPECTED_BLOCKS * block)
        larger = self.pool.borrow(expected) or self.pool.borrow(needed)
        if larger is None:
            # A line that has not begun may begin as plain PyTorch has it, in memory that grows with it.
            return self.loan is None and super().make_room(num_tokens, model, budget)
        if self.loan is None:
            blocks = self.estimator.blocks[0].tensors if self.estimator.blocks else None
            larger.memory.start_from(blocks, self.estimator.tails)
        else:
            larger.memory.continue_from(self.loan.memory, done)
        self.loan = larger
        return True

    def decode_at_once(
        self, model: FlowModel, voice: PromptTensors, tokens: Sequence[int], following: Sequence[int]
    ) -> torch.Tensor:
        self.has_begun = True
        if self.loan is None:
            return super().decode_at_once(model, voice, tokens, following)
        mean = model.mean(tokens, following, EncoderContext(self.tokens.context(0), self.frames.context(0)))
        mel = self.loan.memory.solve(voice, mean, self.estimator.num_frames)
        self.tokens.advance(len(tokens))
        self.frames.advance(mel.shape[0])
        self.estimator.advance(mel.shape[0])
        return mel


class GraphedFlowDecoder(CachedFlowDecoder):
    """``FlowDecoder`` whose streams solve block by block in recorded runs."""

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
    """As ``load_flow``; in half a precision what a line remembers is half as well."""
    options = FlowOptions(cache_dtype=_HALF_TYPES.get(precision))
    return load_flow(path, config, precision, device, options, kind=GraphedFlowDecoder)
