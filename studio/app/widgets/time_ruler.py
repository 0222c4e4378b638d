"""Marks of the time ruler and formatting of times. No Qt."""

from __future__ import annotations

import math

_STEPS_SECONDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
)  # fmt: skip


def ruler_marks(start_seconds: float, end_seconds: float, most_marks: int) -> list[tuple[float, str]]:
    """Return at most ``most_marks`` + 1 round times with their labels."""
    span = end_seconds - start_seconds
    step = next((step for step in _STEPS_SECONDS if span / step <= max(1, most_marks)), _STEPS_SECONDS[-1])
    first, last = math.ceil(start_seconds / step - 1e-6), math.floor(end_seconds / step + 1e-6)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(number * step, time_text(number * step, decimals)) for number in range(first, last + 1)]


def time_text(seconds: float, decimals: int = 1) -> str:
    """Format a time as ``0:07.5``, ``12:07.5`` or ``1:12:07.5``."""
    units = 10**decimals
    whole, part = divmod(round(seconds * units), units)
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{part:0{decimals}d}" if decimals else ""
    return f"{hours}:{minutes:02d}:{whole:02d}{fraction}" if hours else f"{minutes}:{whole:02d}{fraction}"
