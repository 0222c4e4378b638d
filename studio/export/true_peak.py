"""True-peak meter and limiter.

True peak after ITU-R BS.1770, annex 2: the largest magnitude at four times the sample rate, in dBTP (decibels relative
to full scale).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from studio.audio.resampling import Samples

FloatArray = npt.NDArray[np.float64]

OVERSAMPLING = 4
# The gain falls and rises over twice this time, longer than a period of a deep voice. A gain that follows single
# periods would be audible as distortion.
_LOOK_AHEAD_SECONDS = 0.010
_MOST_PASSES = 4
_LOWEST_DBTP = -120.0
_BEYOND_SAMPLES = 64


def true_peak_dbtp(samples: Samples) -> float:
    """Return the true peak of ``samples`` (n,) in dBTP."""
    return in_decibels(float(_peaks_between(samples).max(initial=0.0)))


def in_decibels(amplitude: float) -> float:
    return max(_LOWEST_DBTP, float(20.0 * np.log10(max(amplitude, 1e-12))))


def amplitude_of(decibels: float) -> float:
    return float(10.0 ** (decibels / 20.0))


def limit(samples: Samples, sample_rate: int, ceiling_dbtp: float) -> Samples:
    """Return ``samples`` limited to a true peak of ``ceiling_dbtp``, unchanged if it is not exceeded.

    The gain falls smoothly before a peak and recovers after it. The length does not change.
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
        aim /= excess * 1.0001  # a changing gain slightly changes the peaks between samples
    return (limited / np.float32(excess * 1.0001)).astype(np.float32)


def _peaks_between(samples: Samples) -> FloatArray:
    """Return (n,): the largest magnitude from each sample to the next."""
    if not len(samples):
        return np.zeros(0)
    # The interpolated waveform extends beyond the first and last sample, to which those peaks count.
    padded = np.pad(samples.astype(np.float64), _BEYOND_SAMPLES)
    dense = np.abs(soxr.resample(padded, 1, OVERSAMPLING, quality="VHQ"))
    between: FloatArray = dense.reshape(-1, OVERSAMPLING).max(axis=1)
    first, last = _BEYOND_SAMPLES, _BEYOND_SAMPLES + len(samples) - 1
    between[first] = between[: first + 1].max()
    between[last] = between[last:].max()
    peaks: FloatArray = np.maximum(between[first : last + 1], np.abs(samples))
    return peaks


def _peaks_beside(samples: Samples) -> FloatArray:
    """Return (n,): the largest magnitude within one sample on either side of each sample."""
    between = _peaks_between(samples)
    beside: FloatArray = np.maximum(between, np.concatenate([between[:1], between[:-1]]))
    return beside


def _smooth_gain(gain: FloatArray, sample_rate: int) -> FloatArray:
    """Return (n,): a smooth gain that nowhere exceeds ``gain``.

    The minimum over the look-ahead is averaged over the look-ahead, so that all averaged values are at most the gain
    required at a sample.
    """
    reach = max(1, round(_LOOK_AHEAD_SECONDS * sample_rate))
    held = _sliding_minimum(np.pad(gain, 2 * reach, constant_values=1.0), 2 * reach + 1)
    # Two running means give a triangular window, which avoids corners in the gain.
    return _running_mean(_running_mean(held, reach + 1), reach + 1)


def _sliding_minimum(values: FloatArray, width: int) -> FloatArray:
    """Return (n - width + 1,): the minimum of each run of ``width`` values."""
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
