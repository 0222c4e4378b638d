"""Loudness and true peak of mono audio according to ITU-R BS.1770-4, and a true-peak limiter.

Integrated loudness is gated, in LUFS. It is computed piece by piece, because hours of audio do not fit into one array.

The true peak (annex 2) is the largest magnitude at four times the sample rate, in dBTP (decibels relative to full
scale).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import soxr

from studio.audio.resampling import Samples

FloatArray = npt.NDArray[np.float64]
Biquad = tuple[FloatArray, FloatArray]  # coefficients (3,) of numerator and denominator

_HOPS_IN_BLOCK = 4  # blocks of 400 ms overlap by 75 %
_HOPS_IN_SECOND = 10
_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = -10.0

_OVERSAMPLING = 4
# The gain falls and rises over twice this time, which is longer than a period of a deep voice. A gain that followed
# single periods would be audible as distortion.
_LOOK_AHEAD_SECONDS = 0.010
_MAX_PASSES = 4
_MIN_DECIBELS = -120.0
_BEYOND_SAMPLES = 64


class LoudnessMeter:
    """Loudness meter for consecutive pieces of audio. The result does not depend on the division into pieces."""

    def __init__(self, sample_rate: int) -> None:
        self._filters = (_head_filter(sample_rate), _high_pass(sample_rate))
        self._states = [np.zeros(2) for _ in self._filters]  # states of second-order filters
        self._hop_samples = sample_rate // _HOPS_IN_SECOND
        self._hop_powers: list[FloatArray] = []
        self._rest = np.zeros(0)
        self._num_samples = 0

    def add(self, samples: Samples) -> None:
        from scipy.signal import lfilter  # noqa: PLC0415 - takes a third of a second to import

        if not len(samples):  # lfilter would return an undefined state
            return
        weighted = samples.astype(np.float64)
        for number, (numerator, denominator) in enumerate(self._filters):
            weighted, self._states[number] = lfilter(numerator, denominator, weighted, zi=self._states[number])
        self._num_samples += len(samples)
        squares = np.concatenate([self._rest, weighted**2])
        num_hops = len(squares) // self._hop_samples
        whole = squares[: num_hops * self._hop_samples]
        self._hop_powers.append(whole.reshape(num_hops, self._hop_samples).mean(axis=1))
        self._rest = squares[len(whole) :]

    def add_silence(self, num_samples: int) -> None:
        self.add(np.zeros(num_samples, np.float32))

    @property
    def integrated_lufs(self) -> float | None:
        """The loudness of all pieces so far, or None for silence. Audio shorter than a block is measured as a whole."""
        powers = self._block_powers()
        powers = powers[powers > _to_power(_ABSOLUTE_GATE_LUFS)]
        if not len(powers):
            return None
        powers = powers[powers > powers.mean() * 10.0 ** (_RELATIVE_GATE_LU / 10.0)]
        return _to_lufs(float(powers.mean()))

    def _block_powers(self) -> FloatArray:
        hops = np.concatenate([np.zeros(0), *self._hop_powers])
        if len(hops) >= _HOPS_IN_BLOCK:
            blocks: FloatArray = np.lib.stride_tricks.sliding_window_view(hops, _HOPS_IN_BLOCK).mean(axis=1)
            return blocks
        if not self._num_samples:
            return np.zeros(0)
        total = hops.sum() * self._hop_samples + self._rest.sum()
        return np.array([total / self._num_samples])


def _head_filter(sample_rate: int) -> Biquad:
    """Return the first filter of the K-weighting: a shelf of 4 dB above 1500 Hz, which models the head."""
    gain = 10.0 ** (4.0 / 40.0)
    cosine, alpha = _angle(1500.0, 1.0 / math.sqrt(2.0), sample_rate)
    above, below, slope = gain + 1.0, gain - 1.0, 2.0 * math.sqrt(gain) * alpha
    numerator = gain * np.array([above + below * cosine + slope, -2.0 * (below + above * cosine),
                                 above + below * cosine - slope])  # fmt: skip
    denominator = np.array([above - below * cosine + slope, 2.0 * (below - above * cosine),
                            above - below * cosine - slope])  # fmt: skip
    return numerator / denominator[0], denominator / denominator[0]


def _high_pass(sample_rate: int) -> Biquad:
    """Return the second filter of the K-weighting, which removes what is below 38 Hz."""
    cosine, alpha = _angle(38.0, 0.5, sample_rate)
    numerator = np.array([(1.0 + cosine) / 2.0, -(1.0 + cosine), (1.0 + cosine) / 2.0])
    denominator = np.array([1.0 + alpha, -2.0 * cosine, 1.0 - alpha])
    return numerator / denominator[0], denominator / denominator[0]


def _angle(hertz: float, quality: float, sample_rate: int) -> tuple[float, float]:
    """Return cos(w) and alpha of a filter at ``hertz``: https://www.w3.org/TR/audio-eq-cookbook/."""
    angle = 2.0 * math.pi * hertz / sample_rate
    return math.cos(angle), math.sin(angle) / (2.0 * quality)


def loudness_lufs(samples: Samples, sample_rate: int) -> float | None:
    """Return the loudness of ``samples`` (n,), or None for silence."""
    meter = LoudnessMeter(sample_rate)
    meter.add(samples)
    return meter.integrated_lufs


def _to_power(lufs: float) -> float:
    return float(10.0 ** ((lufs + 0.691) / 10.0))


def _to_lufs(power: float) -> float:
    return -0.691 + 10.0 * math.log10(power)


def true_peak_dbtp(samples: Samples) -> float:
    """Return the true peak of ``samples`` (n,) in dBTP."""
    return to_decibels(float(_peaks_between(samples).max(initial=0.0)))


class TruePeakMeter:
    """True-peak meter for consecutive pieces of audio."""

    def __init__(self) -> None:
        self._stream = soxr.ResampleStream(1, _OVERSAMPLING, 1, dtype="float64", quality="VHQ")
        self._peak = 0.0

    def add(self, samples: Samples, *, is_last: bool = False) -> None:
        dense = self._stream.resample_chunk(samples.astype(np.float64), last=is_last)
        for values in (samples, dense):
            self._peak = max(self._peak, float(np.abs(values).max(initial=0.0)))

    def finish(self) -> float:
        """Return the true peak of all pieces in dBTP. No piece can be added afterwards."""
        self.add(np.zeros(0, np.float32), is_last=True)
        return to_decibels(self._peak)


def to_decibels(amplitude: float) -> float:
    """Return ``amplitude`` in decibels relative to full scale, at least -120."""
    return max(_MIN_DECIBELS, float(20.0 * np.log10(max(amplitude, 1e-12))))


def to_amplitude(decibels: float) -> float:
    return float(10.0 ** (decibels / 20.0))


def limit(samples: Samples, sample_rate: int, ceiling_dbtp: float) -> Samples:
    """Return ``samples`` limited to a true peak of ``ceiling_dbtp``, unchanged if it is not exceeded.

    The gain falls smoothly before a peak and recovers after it. The length does not change.
    """
    ceiling = to_amplitude(ceiling_dbtp)
    peaks = _peaks_beside(samples)
    if peaks.max(initial=0.0) <= ceiling:
        return samples
    aim = ceiling
    limited = samples
    for _ in range(_MAX_PASSES):
        gain = _smooth_gain(np.minimum(1.0, aim / np.maximum(peaks, aim)), sample_rate)
        limited = (samples * gain).astype(np.float32)
        excess = float(_peaks_between(limited).max()) / ceiling
        if excess <= 1.0:
            return limited
        aim /= excess * 1.0001  # a changing gain slightly changes the peaks between samples
    return (limited / np.float32(excess * 1.0001)).astype(np.float32)


def _peaks_between(samples: Samples) -> FloatArray:
    """Return (n,): the largest magnitude between each sample and the next."""
    if not len(samples):
        return np.zeros(0)
    # The interpolated waveform extends beyond the first and last samples. Peaks there are assigned to these samples.
    padded = np.pad(samples.astype(np.float64), _BEYOND_SAMPLES)
    dense = np.abs(soxr.resample(padded, 1, _OVERSAMPLING, quality="VHQ"))
    between: FloatArray = dense.reshape(-1, _OVERSAMPLING).max(axis=1)
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
    """Return (n,): a smooth gain that never exceeds ``gain``.

    The minimum over the look-ahead is averaged over the look-ahead. All the averaged values include the gain that a
    sample requires, so none of them exceeds it.
    """
    reach = max(1, round(_LOOK_AHEAD_SECONDS * sample_rate))
    held = _sliding_minimum(np.pad(gain, 2 * reach, constant_values=1.0), 2 * reach + 1)
    # Two running means equal a triangular window, which avoids corners in the gain curve.
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
