"""Audio in memory: one channel of float samples and their sample rate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from studio.audio.resampling import Samples, resample


@dataclass(frozen=True, slots=True, eq=False)
class Waveform:
    """Mono audio."""

    samples: Samples = field(repr=False)  # shape (n,), float32, nominally in -1..1
    sample_rate: int  # in hertz

    def __post_init__(self) -> None:
        assert self.samples.ndim == 1, "a waveform has one channel"
        assert self.samples.dtype == np.float32
        assert self.sample_rate > 0

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    def resampled(self, sample_rate: int) -> Waveform:
        """Return the audio at another rate, with ``ceil(n x sample_rate / self.sample_rate)`` samples."""
        if sample_rate == self.sample_rate:
            return self
        return Waveform(resample(self.samples, self.sample_rate, sample_rate), sample_rate)
