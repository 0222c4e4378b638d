"""Detection of repeated speech: a stretch whose spectrum recurs directly after it.

The spectrum of a repeated word recurs one word later. In a long vowel, it recurs after a few frames already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.take_checks.sound import FRAME_SECONDS, FloatArray, Sound

_NUM_BANDS = 20
_MIN_HZ, _MAX_HZ = 100.0, 7000.0
_RANGE_DB = 60.0
_SPEECH_RANGE_DB = 45.0
# Duration of what is repeated, in frames.
_MIN_PERIOD, _MAX_PERIOD, _STEP = 16, 90, 2
# A repetition need not be of equal length, so a little less than a period is compared.
_COMPARED_SHARE = 0.9
_MIN_SPEECH_SHARE = 0.6
# Short stretches are similar by chance.
_SURE_FRAMES = 30


@dataclass(frozen=True, slots=True)
class Echo:
    """A stretch of speech from ``start_seconds`` on that occurs twice. ``score`` is up to 1."""

    score: float
    start_seconds: float
    end_seconds: float


def best_echo(sound: Sound, from_seconds: float, to_seconds: float) -> Echo:
    """Return the most probable repetition in an excerpt of a few seconds."""
    first, last = (max(0, round(seconds / FRAME_SECONDS)) for seconds in (from_seconds, to_seconds))
    levels = _band_levels(sound.power[first:last], sound.sample_rate)
    best = Echo(0.0, 0.0, 0.0)
    if len(levels) <= 2 * _MIN_PERIOD:
        return best
    loudness = levels.max(axis=1)
    is_speech = loudness > loudness.max() - _SPEECH_RANGE_DB
    shapes = np.maximum(levels, levels.max() - _RANGE_DB)
    shapes -= shapes[is_speech].mean(axis=0)
    shapes /= np.maximum(np.linalg.norm(shapes, axis=1, keepdims=True), 1e-6)
    similarity = shapes @ shapes.T
    scores = _scores(similarity, is_speech)
    index, start = np.unravel_index(int(scores.argmax()), scores.shape)
    if scores[index, start] <= 0.0:
        return best
    period = _MIN_PERIOD + _STEP * int(index)
    place = (first + int(start)) * FRAME_SECONDS, (first + int(start) + 2 * period) * FRAME_SECONDS
    return Echo(float(scores[index, start]), *place)


def _scores(similarity: FloatArray, is_speech: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the score of a repetition for each period and first frame, (periods, frames)."""
    num_frames = len(similarity)
    period = np.arange(_MIN_PERIOD, min(_MAX_PERIOD, num_frames // 2 + 1), _STEP)[:, None]
    width = np.rint(_COMPARED_SHARE * period).astype(int)
    start = np.arange(num_frames)
    later = np.minimum(start + period, num_frames - 1)
    end = np.minimum(start + width, num_frames)
    repeated = _sums(similarity[start, later], end) / width
    spoken = _sums((is_speech & is_speech[later]).astype(np.float64), end) / width
    area = np.pad(similarity, ((1, 0), (1, 0))).cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    steady = (area[end, end] - area[start, end] - area[end, start] + area[start, start]) / width**2
    certainty = np.minimum(1.0, (period / _SURE_FRAMES) ** 0.5)
    is_possible = (start + period + width <= num_frames) & (spoken > _MIN_SPEECH_SHARE)
    scores: npt.NDArray[np.float64] = np.where(is_possible, repeated - steady, 0.0) * certainty
    return scores


def _sums(values: npt.NDArray[np.floating], end: npt.NDArray[np.int_]) -> npt.NDArray[np.float64]:
    """Return the sum of each row of ``values`` from each column up to, but not including, the column ``end``."""
    total = np.pad(values, ((0, 0), (1, 0))).cumsum(axis=1, dtype=np.float64)
    sums: npt.NDArray[np.float64] = np.take_along_axis(total, end, axis=1) - total[:, :-1]
    return sums


def _band_levels(power: FloatArray, sample_rate: int) -> FloatArray:
    """Return the level of each band in dB, (frames, bands), with bands of equal width on the mel scale."""
    if not len(power):
        return np.zeros((0, _NUM_BANDS), np.float32)
    half = power.shape[1] - 1
    mels = _mel(np.linspace(0.0, sample_rate / 2, half + 1))
    edges = np.searchsorted(mels, np.linspace(_mel(_MIN_HZ), _mel(_MAX_HZ), _NUM_BANDS + 1))
    edges = np.minimum(edges, half)
    widths = np.maximum(np.diff(edges), 1)
    bands = np.add.reduceat(power[:, : edges[-1]], edges[:-1], axis=1) / widths
    levels: FloatArray = (10.0 * np.log10(bands + 1e-8)).astype(np.float32)
    return levels


def _mel(hz: npt.ArrayLike) -> npt.NDArray[np.float64]:
    mel: npt.NDArray[np.float64] = 1127.0 * np.log1p(np.asarray(hz, np.float64) / 700.0)
    return mel
