"""Solver memory of fixed sizes, for GPUs whose driver cannot map memory in pages."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import prod

import torch

from studio.engines.cuda_graph.solver_memory import SolverMemory
from studio.engines.cuda_graph.solver_pools import BorrowedMemory, SolverPool
from studio.engines.library_errors import is_out_of_memory
from studio.model.flow.caches import Allocation, CacheBudget, CacheLayout
from studio.model.flow.layers import SelfAttention
from studio.model.flow.model import FlowModel


def solver_bytes(layout: CacheLayout, capacity: int, dtype: torch.dtype) -> int:
    """Return the size in bytes of keys and values for ``capacity`` frames; other tensors are small."""
    return sum(prod(_state_shape(layout, attention, capacity)) * dtype.itemsize for attention in layout.attentions)


def _state_shape(layout: CacheLayout, attention: SelfAttention, capacity: int) -> tuple[int, ...]:
    """Return the shape of one layer's keys and values."""
    return layout.num_steps, 2, layout.num_rows, attention.num_heads, capacity, attention.head_size


class FixedMemory(SolverMemory):
    """The solver of one line in buffers of a fixed size. A line that outgrows them moves to larger ones.

    ``reservations`` are kept for the lifetime of the memory. ``states`` are zeros by default.
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
        self.reservations = reservations
        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        zeros = (
            torch.zeros(_state_shape(layout, attention, capacity), dtype=dtype, device=model.device)
            for attention in layout.attentions
        )
        super().__init__(model, layout, capacity, dtype, states or zeros)

    @property
    def num_frames(self) -> int:
        return self.capacity

    @property
    def is_complete(self) -> bool:
        """Whether no layer was moved to other memory."""
        return all(len(tensor) for tensor in self._states)

    def _zero_states(self) -> None:
        for tensor in self._states:
            tensor.zero_()

    @torch.inference_mode()
    def continue_from(self, other: FixedMemory, num_frames: int) -> None:
        """Copy the state of a line from ``other``, which it has outgrown, except a prompt that is already here."""
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
    def moved_to(self, capacity: int, num_frames: int, extra: Allocation) -> FixedMemory:
        """Return larger memory with the state of a line of ``num_frames``. Layers move one by one and are freed here.

        ``extra`` reserves the added bytes. This memory cannot be used afterwards, even if the move fails for lack of memory.
        """
        with self._order.turn():
            self._clear_not_finite()
            larger = FixedMemory(
                self._model,
                self._layout,
                capacity,
                self._dtype,
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


class FixedPool(SolverPool):
    """Pool of ``FixedMemory`` of several sizes."""

    def __init__(self, model: FlowModel, layout: CacheLayout, dtype: torch.dtype, budget: CacheBudget) -> None:
        super().__init__(model, layout, dtype, budget)
        self._idle: defaultdict[int, list[FixedMemory]] = defaultdict(list)
        # Re-entrant: garbage collection may return memory while this thread borrows.
        self._lock = threading.RLock()

    def prompt_state(self, num_frames: int) -> None:  # noqa: ARG002 - see ``SolverPool``
        return None

    def borrow(
        self, num_frames: int, prompt: Mapping[str, torch.Tensor] | None = None, *, expected_frames: int = 0
    ) -> BorrowedMemory | None:
        wanted = self._capacity_for(max(num_frames, expected_frames)), self._capacity_for(num_frames)
        for capacity in dict.fromkeys(size for size in wanted if size is not None):
            with self._lock:
                idle = self._idle[capacity]  # in the order of their last use
                memory = min(idle, key=lambda each: (not each.has_prompt(prompt), each.has_any_prompt), default=None)
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
        """See ``SolverPool``. The line moves to larger memory, layer by layer if there is not enough for both sizes."""
        old, capacity = borrowed.memory, self._capacity_for(num_frames)
        assert isinstance(old, FixedMemory)
        if old.num_frames >= num_frames:
            return True
        if capacity is None:
            return False
        larger = self.borrow(num_frames, None if old._prompt is None else _values_of(old._prompt()))
        if larger is not None:
            assert isinstance(larger.memory, FixedMemory)
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
        assert isinstance(memory, FixedMemory)
        if memory.is_complete:
            with self._lock:
                self._idle[memory.capacity].append(memory)

    def _allocate(self, capacity: int) -> FixedMemory | None:
        num_bytes = solver_bytes(self._layout, capacity, self._dtype)
        reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            self._free_idle()
            reservation = self._budget.reserve(num_bytes)
        if reservation is None:
            return None
        try:
            return FixedMemory(self._model, self._layout, capacity, self._dtype, reservations=(reservation,))
        except RuntimeError as error:
            if is_out_of_memory(error):
                return None
            raise

    def _free_idle(self) -> None:
        """Free all unused memory."""
        idle, self._idle = self._idle, defaultdict(list)
        for memory in chain.from_iterable(idle.values()):
            memory.finish()  # torch may hand it to another stream immediately


def _values_of(values: torch.Tensor | None) -> dict[str, torch.Tensor] | None:
    return None if values is None else {"values": values}
