"""How high a waveform really swings between its samples, and a limiter that keeps it below a ceiling.

True peak as in ITU-R BS.1770, annex 2: the largest magnitude at four times the sample rate. Levels are
in dBTP, decibels relative to full scale.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from studio.audio.resampling import Samples

FloatArray = npt.NDArray[np.float64]

OVERSAMPLING = 4
# The gain falls and rises over twice this time: longer than a period of a deep voice, so that it does not
# follow the single swings of it, which would be heard as distortion.
_LOOK_AHEAD_SECONDS = 0.010
_MOST_PASSES = 4
_LOWEST_DBTP = -120.0
_BEYOND_SAMPLES = 64


def true_peak_dbtp(samples: Samples) -> float:
    """The true peak of ``samples`` (n,)."""
    return in_decibels(float(_peaks_between(samples).max(initial=0.0)))


def in_decibels(amplitude: float) -> float:
    return max(_LOWEST_DBTP, float(20.0 * np.log10(max(amplitude, 1e-12))))


def amplitude_of(decibels: float) -> float:
    return float(10.0 ** (decibels / 20.0))


def limit(samples: Samples, sample_rate: int, ceiling_dbtp: float) -> Samples:
    """``samples`` with a true peak of at most ``ceiling_dbtp``; themselves if it is no higher already.

    Nothing is cut off: the gain sinks smoothly before a peak and recovers after it. The length stays.
    """
    ceiling = amplitude_of(ceiling_dbtp)
    peaks = _peaks_beside(samples)
    if peaks.max(initial=0.0) <= ceiling:
        return samples
    aim = ceiling
    limited = samples
    for _ in range(_MOST_PASSES):
        gain = _smooth_gain(np.minimum(1.0, aim / np.maximum(peaks, aim)), sample_rate)
        limited = (samples * gain).astype(np.float32)
        excess = float(_peaks_between(limited).max()) / ceiling
        if excess <= 1.0:
            return limited
        aim /= excess * 1.0001  # a changing gain moves what lies between the samples a little
    return (limited / np.float32(excess * 1.0001)).astype(np.float32)


def _peaks_between(samples: Samples) -> FloatArray:
    """(n,): the largest magnitude from each sample to the next."""
    if not len(samples):
        return np.zeros(0)
    # A wave swings on beyond its first and last sample; that counts as theirs.
    padded = np.pad(samples.astype(np.float64), _BEYOND_SAMPLES)
    dense = np.abs(soxr.resample(padded, 1, OVERSAMPLING, quality="VHQ"))
    between: FloatArray = dense.reshape(-1, OVERSAMPLING).max(axis=1)
    first, last = _BEYOND_SAMPLES, _BEYOND_SAMPLES + len(samples) - 1
    between[first] = between[: first + 1].max()
    between[last] = between[last:].max()
    peaks: FloatArray = np.maximum(between[first : last + 1], np.abs(samples))
    return peaks


def _peaks_beside(samples: Samples) -> FloatArray:
    """(n,): the largest magnitude within one sample on either side of each sample."""
    between = _peaks_between(samples)
    beside: FloatArray = np.maximum(between, np.concatenate([between[:1], between[:-1]]))
    return beside


def _smooth_gain(gain: FloatArray, sample_rate: int) -> FloatArray:
    """(n,): nowhere above ``gain``, and changing only gently.

    The lowest gain within the look-ahead is held, then averaged over the look-ahead: every value that
    enters the average at a sample is at most the gain wanted there.
    """
    reach = max(1, round(_LOOK_AHEAD_SECONDS * sample_rate))
    held = _sliding_minimum(np.pad(gain, 2 * reach, constant_values=1.0), 2 * reach + 1)
    # Two running means in a row weigh like a triangle: no corners where the gain begins to sink.
    return _running_mean(_running_mean(held, reach + 1), reach + 1)


def _sliding_minimum(values: FloatArray, width: int) -> FloatArray:
    """(n - width + 1,): the minimum of each run of ``width`` values."""
    span, minimum = 1, values
    while 2 * span <= width:
        minimum = np.minimum(minimum[:-span], minimum[span:])
        span *= 2
    rest = width - span
    return np.minimum(minimum[: len(minimum) - rest], minimum[rest:]) if rest else minimum


def _running_mean(values: FloatArray, width: int) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means: FloatArray = (sums[width:] - sums[:-width]) / width
    return means
