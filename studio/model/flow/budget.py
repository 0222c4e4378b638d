"""How much memory the flow's caches may take, and who holds it."""

from __future__ import annotations

import threading

import psutil
import torch

# The rest is for weights not yet mapped, the other stages, and the person's other programs.
_SHARE_OF_FREE_MEMORY = 0.5
# Prompt and speech of a usual line, in speech tokens: the size caches are planned for before lengths are known.
USUAL_LINE_TOKENS = 500
# More than these keep no card busier.
_MOST_LINES = 8


class Allocation:
    """A piece of the budget, given back when the object is gone."""

    def __init__(self, budget: CacheBudget, num_bytes: int) -> None:
        self._budget = budget
        self.num_bytes = num_bytes

    def __del__(self) -> None:
        self._budget.give_back(self.num_bytes)


class CacheBudget:
    """Counts the bytes of all caches of one decoder, from whichever thread."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._used_bytes = 0
        # Re-entrant: a reservation may be collected, and given back, while this thread reserves.
        self._lock = threading.RLock()

    @property
    def used_bytes(self) -> int:
        return self._used_bytes

    @property
    def free_bytes(self) -> int:
        return self.total_bytes - self._used_bytes

    def reserve(self, num_bytes: int) -> Allocation | None:
        """None where the budget does not allow it."""
        with self._lock:
            if num_bytes > self.free_bytes:
                return None
            self._used_bytes += num_bytes
            return Allocation(self, num_bytes)

    def give_back(self, num_bytes: int) -> None:
        with self._lock:
            self._used_bytes -= num_bytes


def free_memory_bytes(device: torch.device) -> int:
    """Where tensors of ``device`` lie, as nobody has it now."""
    if device.type != "cpu":
        return int(torch.get_device_module(device).mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def default_budget_bytes(device: torch.device) -> int:
    """Half of what is free on ``device`` now."""
    return int(_SHARE_OF_FREE_MEMORY * free_memory_bytes(device))


def max_concurrent_streams(device: torch.device, budget: CacheBudget, line_bytes: int) -> int:
    """How many lines whose caches take ``line_bytes`` are worth decoding at the same time; one keeps a processor busy.

    Beside them there is room for the line that somebody waits to hear.
    """
    if device.type != "cuda":
        return 1
    return max(1, min(_MOST_LINES, budget.total_bytes // max(1, line_bytes) - 1))
