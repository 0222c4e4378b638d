"""Edits of a finished recording that do not change the recording itself: trim, speed, volume and fades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED, stretched

MIN_GAIN_DB = -24.0
MAX_GAIN_DB = 12.0
MAX_FADE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class AudioEdits:
    """Edits, applied in this order: trim, speed, volume, fades.

    Attributes:
        trim_start_seconds: Removed from the start of the recording.
        trim_end_seconds: Removed from the end of the recording.
        speed: Ratio of the new speaking rate to the recorded one, 0.25 to 4; the pitch is kept.
        gain_db: Change of volume in decibels.
        fade_in_seconds: Length of the fade at the start of the edited audio.
        fade_out_seconds: Length of the fade at the end of the edited audio.
    """

    trim_start_seconds: float = 0.0
    trim_end_seconds: float = 0.0
    speed: float = 1.0
    gain_db: float = 0.0
    fade_in_seconds: float = 0.0
    fade_out_seconds: float = 0.0

    def __post_init__(self) -> None:
        assert MIN_SPEED <= self.speed <= MAX_SPEED
        assert min(self.trim_start_seconds, self.trim_end_seconds, self.fade_in_seconds, self.fade_out_seconds) >= 0.0

    def seconds(self, recorded_seconds: float) -> float:
        """Return the length of the edited audio for a recording of this length."""
        kept = recorded_seconds - self.trim_start_seconds - self.trim_end_seconds
        return max(0.0, kept) / self.speed

    def recorded_seconds(self, edited_seconds: float) -> float:
        """Return the time in the recording of a time in the edited audio."""
        return self.trim_start_seconds + edited_seconds * self.speed

    def edited_seconds(self, recorded_seconds: float) -> float:
        """Return the time in the edited audio of a time in the recording, at least 0."""
        return max(0.0, recorded_seconds - self.trim_start_seconds) / self.speed

    def apply(self, samples: Samples, sample_rate: int) -> Samples:
        """Return the edited samples (m,) of a recording (n,). Without edits, return ``samples`` itself."""
        if self == AudioEdits():
            return samples
        start = round(self.trim_start_seconds * sample_rate)
        end = len(samples) - round(self.trim_end_seconds * sample_rate)
        samples = samples[start : max(start, end)]
        if self.speed != 1.0:
            samples = np.concatenate(list(stretched([samples], self.speed, sample_rate)))
        if self.gain_db or self.fade_in_seconds or self.fade_out_seconds:
            samples = samples * np.float32(10 ** (self.gain_db / 20))
            fade_in = rising_gains(min(round(self.fade_in_seconds * sample_rate), len(samples)))
            fade_out = rising_gains(min(round(self.fade_out_seconds * sample_rate), len(samples)))
            samples[: len(fade_in)] *= fade_in
            samples[len(samples) - len(fade_out) :] *= fade_out[::-1]
        return samples


def rising_gains(num_samples: int) -> Samples:
    """Return (num_samples,): gains from 0 to 1 along a raised cosine."""
    return (0.5 - 0.5 * np.cos(np.pi * (np.arange(num_samples) + 0.5) / max(1, num_samples))).astype(np.float32)
