"""Measurements for the status bar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlaybackStats:
    """Measurements of the current take, None if not measured; ``num_underruns`` and ``num_takes`` are per session."""

    first_audio_seconds: float | None = None
    real_time_factor: float | None = None
    buffered_seconds: float | None = None
    num_underruns: int = 0
    num_takes: int = 0
    level: float = 0.0
