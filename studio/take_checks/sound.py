"""Measures of the sound of a take, for every 10 ms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import fft

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]

FRAME_SECONDS = 0.01
# Long enough for two periods of a deep voice.
_WINDOW_SECONDS = 0.04
_MIN_PITCH_HZ, _MAX_PITCH_HZ = 60.0, 400.0
_FLOOR_DBFS = -100.0
# Frames that are this much quieter than the loud syllables are not speech; see voices/loudness.py.
_SPEECH_RANGE_DB = 35.0
_SILENCE_DBFS = -60.0
_LOUD_QUANTILE = 0.9
_BANDWIDTH_SHARE = 0.99
# Frames that are this much quieter than the loud syllables are hardly vowels.
_VOICED_RANGE_DB = 20.0
_VOICED_PERIODICITY = 0.6
# The first peak of this share of the highest one is the period. Later ones are its multiples.
_FIRST_PEAK_SHARE = 0.88
# Bands of the flatness: at least one octave each in the range of speech.
_BANDS_HZ = (150.0, 400.0, 800.0, 1500.0, 2500.0, 4000.0, 6000.0, 8000.0)


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A take as frames of 10 ms, (frames,) each.

    Attributes:
        levels: RMS level in dBFS.
        is_sounding: Whether the frame is loud enough to be speech.
        power: Power spectrum, (frames, bins).
        flatness: Ratio of the geometric to the arithmetic mean of the bands' power, in dB; 0 is white noise.
        loud_dbfs: Level of the loud syllables.
        bandwidth_hz: Frequency below which nearly all energy lies.
    """

    samples: FloatArray
    sample_rate: int
    levels: FloatArray
    is_sounding: BoolArray
    power: FloatArray
    flatness: FloatArray
    loud_dbfs: float
    bandwidth_hz: float

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    def is_periodic(self, frames: BoolArray, least: float) -> BoolArray:
        """Return which of ``frames`` have an autocorrelation with a peak of ``least`` (0 to 1) in the range of the pitch."""
        periodic = np.zeros(len(frames), np.bool_)
        periodic[frames] = _periodicity(self.power[frames], self.sample_rate) >= least
        return periodic

    def pitches(self) -> FloatArray:
        """Return the pitch in Hz of each loud voiced frame."""
        is_loud = self.levels > self.loud_dbfs - _VOICED_RANGE_DB
        return _pitches(self.power[is_loud], self.sample_rate)


def analysed(samples: FloatArray, sample_rate: int) -> Sound:
    """Analyse a take (n,). It may be empty."""
    hop = round(FRAME_SECONDS * sample_rate)
    size = 1 << (round(_WINDOW_SECONDS * sample_rate) - 1).bit_length()
    num_frames = -(-len(samples) // hop)
    if num_frames == 0:
        nothing = np.zeros(0, np.float32)
        return Sound(samples, sample_rate, nothing, nothing > 0, nothing[:, None], nothing, _FLOOR_DBFS, 0.0)
    # Frame i is centred in its hop.
    before = (size - hop) // 2
    padded = np.pad(samples, (before, num_frames * hop + size - before - len(samples)))
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop][:num_frames]
    # Many transforms take a tenth of the time of numpy's.
    spectrum = fft.rfft(frames * _window(size), axis=1)
    power = np.square(spectrum.real, dtype=np.float32) + np.square(spectrum.imag, dtype=np.float32)
    levels = _levels(samples, hop, num_frames)
    loud = levels[levels > _SILENCE_DBFS]
    loud_dbfs = float(np.quantile(loud, _LOUD_QUANTILE)) if len(loud) else _FLOOR_DBFS
    is_sounding = levels > max(_SILENCE_DBFS, loud_dbfs - _SPEECH_RANGE_DB)
    return Sound(
        samples,
        sample_rate,
        levels,
        is_sounding,
        power,
        _flatness(power, sample_rate),
        loud_dbfs,
        _bandwidth(power[is_sounding], sample_rate),
    )


def runs(flags: BoolArray) -> list[tuple[int, int]]:
    """Return start and end of each run of true ``flags``."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False]))))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _levels(samples: FloatArray, hop: int, num_frames: int) -> FloatArray:
    whole = np.pad(samples, (0, num_frames * hop - len(samples))).reshape(num_frames, hop)
    power = np.square(whole, dtype=np.float32).mean(axis=1)
    levels: FloatArray = 10.0 * np.log10(np.maximum(power, 10.0 ** (_FLOOR_DBFS / 10.0)))
    return levels


def _window(size: int) -> FloatArray:
    return np.hanning(size).astype(np.float32)


def _periodicity(power: FloatArray, sample_rate: int) -> FloatArray:
    """Return the height of the autocorrelation's peak in the range of the pitch, 0 to 1, for each frame."""
    if not len(power):
        return np.zeros(0, np.float32)
    peaks: FloatArray = np.clip(_autocorrelation(power, sample_rate).max(axis=1), 0.0, 1.0).astype(np.float32)
    return peaks


def _pitches(power: FloatArray, sample_rate: int) -> FloatArray:
    """Return the pitch of the frames that are voiced, from the first high peak of the autocorrelation."""
    if not len(power):
        return np.zeros(0, np.float32)
    correlation = _autocorrelation(power, sample_rate)
    before, inner, after = correlation[:, :-2], correlation[:, 1:-1], correlation[:, 2:]
    highest = inner.max(axis=1)
    is_peak = (inner >= before) & (inner >= after) & (inner >= _FIRST_PEAK_SHARE * highest[:, None])
    rows = np.flatnonzero((highest >= _VOICED_PERIODICITY) & is_peak.any(axis=1))
    places = is_peak[rows].argmax(axis=1)
    left, middle, right = before[rows, places], inner[rows, places], after[rows, places]
    # The vertex of the parabola through three points, because a lag of one sample is a third of a semitone.
    curvature = np.minimum(left - 2.0 * middle + right, -1e-9)
    lags = round(sample_rate / _MAX_PITCH_HZ) + 1 + places + np.clip(0.5 * (left - right) / curvature, -0.5, 0.5)
    pitches: FloatArray = (sample_rate / lags).astype(np.float32)
    return pitches


def _autocorrelation(power: FloatArray, sample_rate: int) -> FloatArray:
    """Return the normalised autocorrelation of each frame in the range of the pitch, (frames, lags)."""
    lags = slice(round(sample_rate / _MAX_PITCH_HZ), round(sample_rate / _MIN_PITCH_HZ))
    correlation = fft.irfft(power, axis=1)
    of_window = fft.irfft(np.abs(fft.rfft(_window(2 * (power.shape[1] - 1)))) ** 2)
    normalised = correlation[:, lags] / np.maximum(of_window[lags], 0.05 * of_window[0])
    strength = np.maximum(correlation[:, :1] / of_window[0], 1e-12)
    autocorrelation: FloatArray = normalised / strength
    return autocorrelation


def _flatness(power: FloatArray, sample_rate: int) -> FloatArray:
    bin_hz = sample_rate / 2 / (power.shape[1] - 1)
    edges = [round(hz / bin_hz) for hz in _BANDS_HZ if hz < sample_rate / 2]
    bands = np.stack([power[:, start:end].mean(axis=1) for start, end in pairwise(edges)], axis=1)
    levels = 10.0 * np.log10(np.maximum(bands, 1e-12))
    flatness: FloatArray = levels.mean(axis=1) - 10.0 * np.log10(np.maximum(bands.mean(axis=1), 1e-12))
    return flatness


def _bandwidth(power: FloatArray, sample_rate: int) -> float:
    if not len(power):
        return 0.0
    total = np.cumsum(power.sum(axis=0, dtype=np.float64))
    index = int(np.searchsorted(total, _BANDWIDTH_SHARE * float(total[-1])))
    return float(index * sample_rate / 2 / (power.shape[1] - 1))
