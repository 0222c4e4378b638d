"""What the status bar measures: of the take at work, and of the session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlaybackStats:
    """None where nothing was measured yet. ``num_underruns`` is of the whole session."""

    first_audio_seconds: float | None = None
    real_time_factor: float | None = None
    buffered_seconds: float | None = None
    num_underruns: int = 0
    num_takes: int = 0
    level: float = 0.0
