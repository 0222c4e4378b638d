"""A pool of solver memory, which concurrent lines borrow and later lines reuse."""

from __future__ import annotations

import threading
from collections import defaultdict
from itertools import chain

import torch

from studio.engines.cuda_graph.solver_memory import SolverMemory, solver_bytes
from studio.engines.library_errors import is_out_of_memory
from studio.engines.memory_plan import LINE_BLOCKS
from studio.model.flow.caches import CacheBudget, CacheLayout
from studio.model.flow.model import FlowModel


class SolverPool:
    """Solver memory of one decoder, of several sizes. Thread-safe."""

    def __init__(self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget) -> None:
        self._model = model
        self._layout = layout
        self._dtype = dtype
        self._budget = budget
        self._idle: defaultdict[int, list[SolverMemory]] = defaultdict(list)
        # Re-entrant: garbage collection may return memory while this thread borrows.
        self._lock = threading.RLock()

    def borrow(
        self, num_frames: int, prompt: torch.Tensor | None = None, *, expected_frames: int = 0
    ) -> BorrowedMemory | None:
        """Return free memory for ``num_frames``, or None if there is too little.

        ``expected_frames`` is the usual number of frames of a complete line. Memory that contains ``prompt``, the values of
        its state, is preferred, then memory without a prompt, then the least recently used one.
        """
        wanted = self._capacity_for(max(num_frames, expected_frames)), self._capacity_for(num_frames)
        for capacity in dict.fromkeys(size for size in wanted if size is not None):
            with self._lock:
                idle = self._idle[capacity]  # in the order of their last use
                memory = min(
                    idle,
                    key=lambda each: (prompt is None or each.prompt is not prompt, each.prompt is not None),
                    default=None,
                )
                if memory is None:
                    memory = self._allocate(capacity)
                else:
                    idle.remove(memory)
            if memory is not None:
                return BorrowedMemory(self, memory)
        return None

    def record(self, num_blocks: int) -> None:
        """Allocate and record memory of ``num_blocks`` that remains free, if it takes at most half of the free budget.

        The first memory of the pool may take the whole budget.
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

    def grow(self, borrowed: BorrowedMemory, num_frames: int, num_used_frames: int) -> bool:
        """Move a line of ``num_used_frames`` to memory for ``num_frames``, layer by layer if there is not enough for both.

        Return whether there was enough. If not, the line must be computed without this memory.
        """
        old, capacity = borrowed.memory, self._capacity_for(num_frames)
        if old.capacity >= num_frames:
            return True
        if capacity is None:
            return False
        larger = self.borrow(num_frames, old.prompt)
        if larger is not None:
            larger.memory.continue_from(old, num_used_frames)
            borrowed.memory, larger.memory = larger.memory, old
            return True
        larger_bytes, old_bytes = (solver_bytes(self._layout, size, self._dtype) for size in (capacity, old.capacity))
        one_layer_bytes = -(-old_bytes // len(self._layout.attentions))
        with self._lock:
            self._free_idle()
            extra = self._budget.reserve(larger_bytes - old_bytes)
            moving = self._budget.reserve(one_layer_bytes)  # held until this method returns
        if extra is None or moving is None:
            return False
        try:
            borrowed.memory = old.moved_to(capacity, num_used_frames, extra)
            old.finish()  # torch may hand the rest of it to another stream immediately
        except RuntimeError as error:
            if is_out_of_memory(error):
                return False
            raise
        return True

    def give_back(self, memory: SolverMemory) -> None:
        """Return ``memory`` to the pool for later lines. May be called at any time, also by garbage collection."""
        if memory.is_complete:
            with self._lock:
                self._idle[memory.capacity].append(memory)

    def _capacity_for(self, num_frames: int) -> int | None:
        """Return the smallest capacity for ``num_frames``, or None if they are too many."""
        block = self._layout.block_frames
        return next((block * blocks for blocks in LINE_BLOCKS if block * blocks >= num_frames), None)

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
        """Free all unused memory."""
        idle, self._idle = self._idle, defaultdict(list)
        for memory in chain.from_iterable(idle.values()):
            memory.finish()  # torch may hand it to another stream immediately


class BorrowedMemory:
    """Memory that returns to its pool when this object is freed."""

    def __init__(self, pool: SolverPool, memory: SolverMemory) -> None:
        self._pool = pool
        self.memory = memory

    def __del__(self) -> None:
        self._pool.give_back(self.memory)
