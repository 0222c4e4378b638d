"""Pools of solver memory, which concurrent lines borrow and later lines reuse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch

from studio.engines.cuda_graph.solver_memory import SolverMemory
from studio.engines.memory_plan import LINE_BLOCKS
from studio.model.flow.caches import CacheBudget, CacheLayout
from studio.model.flow.model import FlowModel


class SolverPool(ABC):
    """Solver memory of one decoder. Thread-safe."""

    def __init__(self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget) -> None:
        self._model = model
        self._layout = layout
        self._dtype = dtype
        self._budget = budget

    @abstractmethod
    def borrow(
        self, num_frames: int, prompt: Mapping[str, torch.Tensor] | None = None, *, expected_frames: int = 0
    ) -> BorrowedMemory | None:
        """Return free memory for ``num_frames``, or None if there is too little.

        ``expected_frames`` is the usual number of frames of a complete line. Memory that contains ``prompt`` is preferred, then
        memory without a prompt, then the least recently used one.
        """

    @abstractmethod
    def grow(self, borrowed: BorrowedMemory, num_frames: int, num_used_frames: int) -> bool:
        """Give a line of ``num_used_frames`` memory for ``num_frames``.

        Return whether there was enough. If not, the line must be computed without this memory.
        """

    @abstractmethod
    def record(self, num_blocks: int) -> None:
        """Record the run for ``num_blocks`` in free memory, if there is enough."""

    @abstractmethod
    def give_back(self, memory: SolverMemory) -> None:
        """Return ``memory`` to the pool for later lines. May be called at any time, also by garbage collection."""

    @abstractmethod
    def prompt_state(self, num_frames: int) -> dict[str, torch.Tensor] | None:
        """Return uninitialised keys and values of a prompt, as in ``StageCache``; None if the pool cannot hold them."""

    def _capacity_for(self, num_frames: int) -> int | None:
        """Return the smallest capacity for ``num_frames``, or None if they are too many."""
        block = self._layout.block_frames
        return next((block * blocks for blocks in LINE_BLOCKS if block * blocks >= num_frames), None)


class BorrowedMemory:
    """Memory that returns to its pool when this object is freed."""

    def __init__(self, pool: SolverPool, memory: SolverMemory) -> None:
        self._pool = pool
        self.memory = memory

    def __del__(self) -> None:
        self._pool.give_back(self.memory)
