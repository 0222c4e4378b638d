"""Timing small pieces of work."""

from __future__ import annotations

import time
from collections.abc import Callable

_RUNS = 3


def best_seconds(task: Callable[[], object]) -> float:
    """Return the shortest of a few runs after a warm-up: disturbances only add time."""
    task()
    seconds = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
