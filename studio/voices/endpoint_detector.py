"""Endpoint detection during a recording: whether speech has started and ended.

Uses levels relative to the quietest and loudest frames so far, because rooms and microphones differ too much for fixed
thresholds.
"""

from __future__ import annotations

import numpy as np

from studio.audio.resampling import Samples
from studio.voices.loudness import FRAME_SECONDS, frame_levels

_LEAST_SPEECH_SECONDS = 1.0
_SILENCE_SECONDS = 2.0
# Speech exceeds the background by at least this much; a smaller range may be a fan.
_LEAST_RANGE_DB = 12.0
_QUIETEST_SPEECH_DBFS = -50.0
_FLOOR_QUANTILE, _LOUD_QUANTILE = 0.1, 0.95
_GATE_SHARE = 0.4


class EndpointDetector:
    """Takes blocks of any size; ``is_over`` after enough speech and ``silence_seconds`` of silence."""

    def __init__(self, sample_rate: int, *, silence_seconds: float = _SILENCE_SECONDS) -> None:
        self._frame_samples = round(FRAME_SECONDS * sample_rate)
        self._sample_rate = sample_rate
        self._silence_seconds = silence_seconds
        self._rest: Samples = np.zeros(0, np.float32)
        self._levels: list[float] = []

    def add(self, samples: Samples) -> None:
        """Add the next ``samples`` (n,)."""
        samples = np.concatenate([self._rest, samples])
        num_whole = len(samples) // self._frame_samples * self._frame_samples
        self._levels += frame_levels(samples[:num_whole], self._sample_rate).tolist()
        self._rest = samples[num_whole:]

    @property
    def has_spoken(self) -> bool:
        return len(self._speech()) * FRAME_SECONDS >= _LEAST_SPEECH_SECONDS

    @property
    def silent_for_seconds(self) -> float:
        """Silence since the last speech; 0 before the first."""
        speech = self._speech()
        return (len(self._levels) - 1 - int(speech[-1])) * FRAME_SECONDS if len(speech) else 0.0

    @property
    def is_over(self) -> bool:
        return self.has_spoken and self.silent_for_seconds >= self._silence_seconds

    def _speech(self) -> np.ndarray:
        """Return the indices of the frames with speech."""
        if not self._levels:
            return np.zeros(0, np.int64)
        levels = np.asarray(self._levels)
        floor, loud = np.quantile(levels, (_FLOOR_QUANTILE, _LOUD_QUANTILE))
        if loud - floor < _LEAST_RANGE_DB or loud < _QUIETEST_SPEECH_DBFS:
            # So far all frames are silence, or all are speech.
            return np.arange(len(levels)) if loud >= _QUIETEST_SPEECH_DBFS else np.zeros(0, np.int64)
        return np.flatnonzero(levels > floor + _GATE_SHARE * (loud - floor))
