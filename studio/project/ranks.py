"""Sparse sort keys for lines, so that inserting a line rarely changes the keys of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_STEP = 1 << 20


def sort_keys(ranks: Mapping[str, int], before: Sequence[str], after: Sequence[str]) -> dict[str, int]:
    """Return new ranks for the ids of ``after`` whose rank must change. ``ranks`` orders the ids of ``before``."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    middle = after[head : len(after) - tail]
    if not middle:
        return {}
    low = ranks[after[head - 1]] if head else 0
    high = ranks[after[-tail]] if tail else low + _STEP * (len(middle) + 1)
    step = (high - low) // (len(middle) + 1)
    if step > 0:
        return {line_id: low + step * number for number, line_id in enumerate(middle, start=1)}
    return {line_id: _STEP * number for number, line_id in enumerate(after, start=1)}
