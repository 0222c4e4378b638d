"""Levels of a waveform over time, and speech detection by level.

Levels are in decibels relative to full scale (dBFS). They distinguish speech from silence, but not from other loud
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
_MIN_DBFS = -120.0
# Voiced speech is at most this much quieter than its loud syllables.
_SPEECH_RANGE_DB = 35.0

# Endpoint detection: the recording ends after this much speech and this much silence.
_MIN_SPEECH_SECONDS = 1.0
_SILENCE_SECONDS = 2.0
# Speech exceeds the background by at least this much. A smaller range may be background noise, such as that of a fan.
_MIN_RANGE_DB = 12.0
_MIN_SPEECH_DBFS = -50.0
_FLOOR_QUANTILE, _LOUD_QUANTILE = 0.1, 0.95
_GATE_SHARE = 0.4


def frame_levels(samples: Samples, sample_rate: int) -> FloatArray:
    """Return (ceil(n / 20 ms),): the RMS level of each frame of 20 ms, without DC. The last frame may be shorter."""
    frame = max(1, round(FRAME_SECONDS * sample_rate))
    num_frames = -(-len(samples) // frame)
    if num_frames == 0:
        return np.zeros(0)
    centred = samples.astype(np.float64) - samples.mean(dtype=np.float64)
    power = np.pad(centred**2, (0, num_frames * frame - len(samples))).reshape(num_frames, frame).sum(axis=1)
    lengths = np.full(num_frames, frame)
    lengths[-1] = len(samples) - (num_frames - 1) * frame
    levels: FloatArray = 10.0 * np.log10(np.maximum(power / lengths, 10.0 ** (_MIN_DBFS / 10.0)))
    return levels


def loud_level(levels: FloatArray) -> float:
    """Return the level of loud syllables: the 90th percentile of frames above silence, to ignore single clicks."""
    sounding = levels[levels > SILENCE_DBFS]
    return float(np.quantile(sounding, 0.9)) if len(sounding) else _MIN_DBFS


def speech_frames(levels: FloatArray) -> npt.NDArray[np.bool_]:
    """Return (frames,): whether a frame is loud enough to be speech."""
    gate = max(SILENCE_DBFS, loud_level(levels) - _SPEECH_RANGE_DB)
    return levels > gate


def differentiated(waveform: Waveform) -> Waveform:
    """Return the differences between successive samples, which emphasise fricatives such as s and f, and remove hum."""
    return Waveform(np.diff(waveform.samples, prepend=waveform.samples[:1]), waveform.sample_rate)


class EndpointDetector:
    """Detector of the start and end of speech during a recording. Accepts blocks of any size.

    The levels are compared with the quietest and loudest frames so far, because rooms and microphones differ too much
    for fixed thresholds.
    """

    def __init__(self, sample_rate: int) -> None:
        self._frame_samples = round(FRAME_SECONDS * sample_rate)
        self._sample_rate = sample_rate
        self._rest: Samples = np.zeros(0, np.float32)
        self._levels: list[float] = []

    def add(self, samples: Samples) -> None:
        """Add the next ``samples`` (n,)."""
        samples = np.concatenate([self._rest, samples])
        num_whole = len(samples) // self._frame_samples * self._frame_samples
        self._levels += frame_levels(samples[:num_whole], self._sample_rate).tolist()
        self._rest = samples[num_whole:]

    @property
    def is_over(self) -> bool:
        """Whether enough speech has ended with enough silence."""
        speech = self._speech()
        if len(speech) * FRAME_SECONDS < _MIN_SPEECH_SECONDS:
            return False
        return (len(self._levels) - 1 - int(speech[-1])) * FRAME_SECONDS >= _SILENCE_SECONDS

    def _speech(self) -> np.ndarray:
        """Return the indices of the frames with speech."""
        if not self._levels:
            return np.zeros(0, np.int64)
        levels = np.asarray(self._levels)
        floor, loud = np.quantile(levels, (_FLOOR_QUANTILE, _LOUD_QUANTILE))
        if loud - floor < _MIN_RANGE_DB or loud < _MIN_SPEECH_DBFS:
            # So far, all frames are silence or all frames are speech.
            return np.arange(len(levels)) if loud >= _MIN_SPEECH_DBFS else np.zeros(0, np.int64)
        return np.flatnonzero(levels > floor + _GATE_SHARE * (loud - floor))
