"""Levels of a waveform over time, and speech detection by level.

Levels are in decibels relative to full scale (dBFS). They separate speech from silence, but not from other loud
sounds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform

FloatArray = npt.NDArray[np.float64]

FRAME_SECONDS = 0.02
SILENCE_DBFS = -60.0
_LOWEST_DBFS = -120.0
# The voiced part of speech stays within this much of its loud syllables.
_SPEECH_RANGE_DB = 35.0


def frame_levels(samples: Samples, sample_rate: int) -> FloatArray:
    """(ceil(n / 20 ms),): the RMS level of each 20 ms frame after removal of DC; the last frame may be shorter."""
    frame = max(1, round(FRAME_SECONDS * sample_rate))
    num_frames = -(-len(samples) // frame)
    if num_frames == 0:
        return np.zeros(0)
    centred = samples.astype(np.float64) - samples.mean(dtype=np.float64)
    power = np.pad(centred**2, (0, num_frames * frame - len(samples))).reshape(num_frames, frame).sum(axis=1)
    lengths = np.full(num_frames, frame)
    lengths[-1] = len(samples) - (num_frames - 1) * frame
    levels: FloatArray = 10.0 * np.log10(np.maximum(power / lengths, 10.0 ** (_LOWEST_DBFS / 10.0)))
    return levels


def loud_level(levels: FloatArray) -> float:
    """Return the level of loud syllables: the 90th percentile of frames above silence, which ignores single clicks."""
    sounding = levels[levels > SILENCE_DBFS]
    return float(np.quantile(sounding, 0.9)) if len(sounding) else _LOWEST_DBFS


def speech_frames(levels: FloatArray) -> npt.NDArray[np.bool_]:
    """(frames,): whether a frame is loud enough to be speech."""
    gate = max(SILENCE_DBFS, loud_level(levels) - _SPEECH_RANGE_DB)
    return levels > gate


def differentiated(waveform: Waveform) -> Waveform:
    """Return the difference between successive samples: emphasises fricatives such as s and f, removes hum."""
    return Waveform(np.diff(waveform.samples, prepend=waveform.samples[:1]), waveform.sample_rate)
