"""Listens along while somebody records: have they begun to speak, and have they finished?

By level alone, against the quietest and loudest moments so far: rooms and microphones differ too much
for fixed numbers.
"""

from __future__ import annotations

import numpy as np

from studio.audio.resampling import Samples
from studio.voices.loudness import FRAME_SECONDS, frame_levels

_LEAST_SPEECH_SECONDS = 1.0
_SILENCE_SECONDS = 2.0
# Speech stands out from the room by at least this much; else it may be a fan.
_LEAST_RANGE_DB = 12.0
_QUIETEST_SPEECH_DBFS = -50.0
_FLOOR_QUANTILE, _LOUD_QUANTILE = 0.1, 0.95
_GATE_SHARE = 0.4


class EndpointDetector:
    """Hears blocks of any size; ``is_over`` once ``silence_seconds`` of silence have followed enough speech."""

    def __init__(self, sample_rate: int, *, silence_seconds: float = _SILENCE_SECONDS) -> None:
        self._frame_samples = round(FRAME_SECONDS * sample_rate)
        self._sample_rate = sample_rate
        self._silence_seconds = silence_seconds
        self._rest: Samples = np.zeros(0, np.float32)
        self._levels: list[float] = []

    def hear(self, samples: Samples) -> None:
        """``samples`` (n,): the next ones."""
        samples = np.concatenate([self._rest, samples])
        num_whole = len(samples) // self._frame_samples * self._frame_samples
        self._levels += frame_levels(samples[:num_whole], self._sample_rate).tolist()
        self._rest = samples[num_whole:]

    @property
    def has_spoken(self) -> bool:
        return len(self._speech()) * FRAME_SECONDS >= _LEAST_SPEECH_SECONDS

    @property
    def silent_for_seconds(self) -> float:
        """Since the last speech; 0 before the first."""
        speech = self._speech()
        return (len(self._levels) - 1 - int(speech[-1])) * FRAME_SECONDS if len(speech) else 0.0

    @property
    def is_over(self) -> bool:
        return self.has_spoken and self.silent_for_seconds >= self._silence_seconds

    def _speech(self) -> np.ndarray:
        """The numbers of the frames in which somebody speaks."""
        if not self._levels:
            return np.zeros(0, np.int64)
        levels = np.asarray(self._levels)
        floor, loud = np.quantile(levels, (_FLOOR_QUANTILE, _LOUD_QUANTILE))
        if loud - floor < _LEAST_RANGE_DB or loud < _QUIETEST_SPEECH_DBFS:
            # So far it is all silence, or all speech; and who never pauses has not finished.
            return np.arange(len(levels)) if loud >= _QUIETEST_SPEECH_DBFS else np.zeros(0, np.int64)
        return np.flatnonzero(levels > floor + _GATE_SHARE * (loud - floor))
