"""All lines in one file with their pauses, written and measured in pieces."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from studio.audio.resampling import Samples
from studio.export.journal import FileRecord
from studio.export.loudness import LoudnessMeter
from studio.export.target_folder import SoundFile
from studio.export.timeline import LineTiming
from studio.export.true_peak import true_peak_dbtp

# A smaller correction is inaudible, and without one the lines equal their own files.
_NOTICEABLE_LU = 0.05


class IntegratedLoudness:
    """Measures the loudness of all lines together.

    Pauses and partial blocks at the ends of lines make the whole a little quieter than its lines.
    """

    def __init__(self, sample_rate: int) -> None:
        self._meter = LoudnessMeter(sample_rate)

    def add(self, samples: Samples, pause_samples: int) -> None:
        self._meter.add(samples)
        self._meter.add_silence(pause_samples)

    def correction_db(self, target_lufs: float) -> float:
        """Return the gain to add to each line so that all lines together reach ``target_lufs``."""
        reached = self._meter.integrated_lufs
        correction = 0.0 if reached is None else target_lufs - reached
        return correction if abs(correction) > _NOTICEABLE_LU else 0.0


def write_joined(
    sound: SoundFile, pieces: Iterable[tuple[LineTiming, Samples]], recipe: str, sample_rate: int, *, measures: bool
) -> tuple[FileRecord, list[int]]:
    """Write the file and return its record and the number of samples of each line. Discard it on an error."""
    meter = LoudnessMeter(sample_rate) if measures else None
    peaks: list[float] = []
    num_samples: list[int] = []
    try:
        for span, samples in pieces:
            num_samples.append(len(samples))
            pause = np.zeros(span.pause_samples, np.float32)
            for part in (samples, pause):
                sound.write(part)
                if meter:
                    meter.add(part)
            if meter:
                peaks.append(true_peak_dbtp(samples))
        record = sound.complete(
            recipe,
            loudness_lufs=meter.integrated_lufs if meter else None,
            true_peak_dbtp=max(peaks) if peaks else None,
        )
    finally:
        sound.discard()
    return record, num_samples
