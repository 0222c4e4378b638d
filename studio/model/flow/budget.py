"""Memory budget of the flow's caches."""

from __future__ import annotations

import threading

import psutil
import torch

# The rest is for weights not yet read, the other stages, and other programs.
_SHARE_OF_FREE_MEMORY = 0.5
# Prompt and speech of a usual line, in speech tokens: the size caches are planned for before lengths are known.
USUAL_LINE_TOKENS = 500
# More lines do not increase the throughput of a GPU.
_MOST_LINES = 8


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
    def used_bytes(self) -> int:
        return self._used_bytes

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


def free_memory_bytes(device: torch.device) -> int:
    """Return the free memory of ``device``: of the GPU, or the available system memory."""
    if device.type != "cpu":
        return int(torch.get_device_module(device).mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def default_budget_bytes(device: torch.device) -> int:
    """Return half of the free memory of ``device``."""
    return int(_SHARE_OF_FREE_MEMORY * free_memory_bytes(device))


def max_concurrent_streams(device: torch.device, budget: CacheBudget, line_bytes: int) -> int:
    """Return how many lines with caches of ``line_bytes`` to decode concurrently; always 1 on a CPU.

    One more line fits in the budget, for interactive playback during a batch.
    """
    if device.type != "cuda":
        return 1
    return max(1, min(_MOST_LINES, budget.total_bytes // max(1, line_bytes) - 1))
