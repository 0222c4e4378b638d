"""Repeated speech in the sound: a stretch whose spectrum follows once more directly after it.

The spectrum of a repeated word is similar to that one word later but, unlike that of a long vowel, not to that a few
frames later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.take_checks.sound import FRAME_SECONDS, FloatArray, Sound

_NUM_BANDS = 20
_LOWEST_HZ, _HIGHEST_HZ = 100.0, 7000.0
_RANGE_DB = 60.0
_SPEECH_RANGE_DB = 45.0
# Duration of what is repeated, in frames.
_SHORTEST, _LONGEST, _STEP = 16, 90, 2
# A repetition need not be of equal length, so a little less than a period is compared.
_COMPARED_SHARE = 0.9
_LEAST_SPEECH_SHARE = 0.6
# Short stretches are similar by chance.
_SURE_FRAMES = 30


@dataclass(frozen=True, slots=True)
class Echo:
    """A stretch of speech from ``start_seconds`` on that is said twice. ``score`` is up to 1."""

    score: float
    start_seconds: float
    end_seconds: float


def best_echo(sound: Sound, from_seconds: float, to_seconds: float) -> Echo:
    """Return the most probable repetition in an excerpt of a few seconds."""
    first, last = (max(0, round(seconds / FRAME_SECONDS)) for seconds in (from_seconds, to_seconds))
    levels = _band_levels(sound.power[first:last], sound.sample_rate)
    best = Echo(0.0, 0.0, 0.0)
    if len(levels) <= 2 * _SHORTEST:
        return best
    loudness = levels.max(axis=1)
    is_speech = loudness > loudness.max() - _SPEECH_RANGE_DB
    shapes = np.maximum(levels, levels.max() - _RANGE_DB)
    shapes -= shapes[is_speech].mean(axis=0)
    shapes /= np.maximum(np.linalg.norm(shapes, axis=1, keepdims=True), 1e-6)
    similarity = shapes @ shapes.T
    area = np.pad(similarity, ((1, 0), (1, 0))).cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    for period in range(_SHORTEST, min(_LONGEST, len(levels) // 2 + 1), _STEP):
        width = round(_COMPARED_SHARE * period)
        repeated = _moving_mean(np.diagonal(similarity, period), width)
        spoken = _moving_mean((is_speech[:-period] & is_speech[period:]).astype(np.float64), width)
        start = np.arange(len(repeated))
        end = start + width
        steady = (area[end, end] - area[start, end] - area[end, start] + area[start, start]) / width**2
        certainty = min(1.0, (period / _SURE_FRAMES) ** 0.5)
        scores = np.where(spoken > _LEAST_SPEECH_SHARE, repeated - steady, 0.0) * certainty
        index = int(scores.argmax())
        if scores[index] > best.score:
            place = (first + index) * FRAME_SECONDS, (first + index + 2 * period) * FRAME_SECONDS
            best = Echo(float(scores[index]), *place)
    return best


def _moving_mean(values: npt.NDArray[np.float64], width: int) -> npt.NDArray[np.float64]:
    total = np.concatenate(([0.0], np.cumsum(values)))
    mean: npt.NDArray[np.float64] = (total[width:] - total[:-width]) / width
    return mean


def _band_levels(power: FloatArray, sample_rate: int) -> FloatArray:
    """Return the level of each band in dB, (frames, bands), with bands of equal width on the mel scale."""
    if not len(power):
        return np.zeros((0, _NUM_BANDS), np.float32)
    half = power.shape[1] - 1
    mels = _mel(np.linspace(0.0, sample_rate / 2, half + 1))
    edges = np.searchsorted(mels, np.linspace(_mel(_LOWEST_HZ), _mel(_HIGHEST_HZ), _NUM_BANDS + 1))
    edges = np.minimum(edges, half)
    bands = [power[:, edges[i] : max(edges[i + 1], edges[i] + 1)].mean(axis=1) for i in range(_NUM_BANDS)]
    levels: FloatArray = (10.0 * np.log10(np.stack(bands, axis=1) + 1e-8)).astype(np.float32)
    return levels


def _mel(hz: npt.ArrayLike) -> npt.NDArray[np.float64]:
    mel: npt.NDArray[np.float64] = 1127.0 * np.log1p(np.asarray(hz, np.float64) / 700.0)
    return mel
