"""Cleaning of a prompt clip: DC, hum, clipped peaks, reverberation, noise and level, each only if its fault is measured.

The log-spectral amplitude estimator of Ephraim and Malah (1985) reduces steady noise, such as that of a fan, and
weighted prediction error (Nakatani et al., 2010) the reverberation of a room. Music and other voices remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.voices.best_segment import speech_mask
from studio.voices.clip_report import LOW_DBFS, modulation_depth, speech_above_noise
from studio.voices.loudness import FRAME_SECONDS, FloatArray, frame_levels, loud_level

if TYPE_CHECKING:
    from scipy.signal import ShortTimeFFT

_MIN_SECONDS = 0.5
_MIN_DC = 0.01

# Hum: lines in the spectrum at multiples of the mains frequency that are also present in the quietest moments.
_MAINS_HZ = (50.0, 60.0)
_HUM_WINDOW_SECONDS = 0.5
_HUM_QUANTILE = 0.2
_HUM_HARMONICS = 12
_HUM_ABOVE_NEIGHBOURS_DB = 12.0
_MIN_HUM_DBFS = -78.0
_NOTCH_HZ = 3.0

# Clipping: runs of at least this many equal samples at the largest value. If more than the share is clipped, the shape
# of the peaks is lost.
_CLIPPED_RUN_SAMPLES = 3
_CLIPPED_TOLERANCE = 2e-4
_MIN_CLIPPED_RUNS = 3
_MAX_CLIPPED_SHARE = 0.02
_MAX_OVERSHOOT = 1.3
_MAX_CLIPPED_RUN_SECONDS = 0.001

# Reverberation: what can be predicted from the 30 frames of 12 ms that end 36 ms before. It is removed if this raises the
# modulation depth clearly: by 3.3 to 3.7 dB in a room of half a second, and by up to 2.6 dB in 20 recordings of actors.
_ROOM_FRAME_SECONDS = 0.048
_ROOM_TAPS, _ROOM_DELAY, _ROOM_PASSES = 30, 3, 3
_MIN_ROOM_GAIN_DB = 3.0
_MAX_ROOM_HZ = 8000.0  # above, reverberation is weak

# Distance between speech and noise below which noise is reduced. It is audible before it is a fault in the report.
_NOISY_DB = 27.0
_FLOOR_QUANTILE = 0.05
_NOISE_FRAME_SECONDS = 0.032
_MIN_PAUSES_SECONDS = 0.3
_QUIETEST_SHARE = 0.1
# The quietest frames have less noise than the mean.
_QUIETEST_BIAS = 1.3
_SMOOTHING = 0.97  # of the estimated speech power over frames of 8 ms
_MIN_PRIOR = 10.0**-2.0
_MIN_GAIN = 10.0 ** (-18.0 / 20.0)  # noise that remains sounds more natural than gaps

_LOUD_DBFS = -23.0
_MAX_PEAK = 0.95


class CleaningStep(Enum):
    """Steps in their order. The values are printed by ``timbre voices repair --json``."""

    CLIPPING = "clipping"
    DC = "dc"
    HUM = "hum"
    ROOM = "room"
    NOISE = "noise"
    LEVEL = "level"


@dataclass(frozen=True, slots=True)
class CleanedClip:
    """A cleaned clip of the same length and rate, and the steps that were needed."""

    clip: Waveform
    steps: tuple[CleaningStep, ...]


def clean_clip(clip: Waveform) -> CleanedClip:
    """Clean ``clip``. Return it unchanged if no fault is measured or it is shorter than half a second."""
    if clip.seconds < _MIN_SECONDS:
        return CleanedClip(clip, ())
    samples = clip.samples.astype(np.float64)
    steps = []
    for step, repair in (
        (CleaningStep.CLIPPING, _without_clipping),
        (CleaningStep.DC, _without_dc),
        (CleaningStep.HUM, _without_hum),
        (CleaningStep.ROOM, _without_room),
        (CleaningStep.NOISE, _without_noise),
        (CleaningStep.LEVEL, _levelled),
    ):
        repaired = repair(samples, clip.sample_rate)
        if repaired is not None:
            samples = repaired
            steps.append(step)
    if not steps:
        return CleanedClip(clip, ())
    return CleanedClip(Waveform(samples.astype(np.float32), clip.sample_rate), tuple(steps))


def find_hum(samples: FloatArray, sample_rate: int) -> list[float]:
    """Return the frequencies of mains hum in Hz, or an empty list without hum.

    A steady voice may have a harmonic at a multiple of the mains frequency, but not at an odd one below its pitch.
    """
    window = round(_HUM_WINDOW_SECONDS * sample_rate)
    if len(samples) < 2 * window:
        return []
    frames = np.lib.stride_tricks.sliding_window_view(samples, window)[:: window // 2]
    hann = np.hanning(window)
    power = np.quantile(np.abs(np.fft.rfft(frames * hann)) ** 2, _HUM_QUANTILE, axis=0)
    levels = 10.0 * np.log10(np.maximum(power * 4.0 / hann.sum() ** 2 / 2.0, 1e-20))  # dBFS of a sine
    bin_hz = sample_rate / window
    best: list[float] = []
    for mains in _MAINS_HZ:
        lines = {
            number: hertz
            for number in range(1, _HUM_HARMONICS + 1)
            if (hertz := _line(levels, bin_hz, number * mains)) is not None
        }
        has_odd = sum(number % 2 for number in lines) >= (1 if 1 in lines else 2)
        if has_odd and len(lines) > len(best):
            best = list(lines.values())
    return best


def _line(levels: FloatArray, bin_hz: float, hertz: float) -> float | None:
    """Return the frequency of a line within 1 bin of ``hertz``, or None."""
    centre, reach = round(hertz / bin_hz), max(4, round(20.0 / bin_hz))
    if centre < 2 or centre + reach >= len(levels):
        return None
    place = centre - 1 + int(np.argmax(levels[centre - 1 : centre + 2]))
    around = np.concatenate([levels[max(0, place - reach) : place - 3], levels[place + 4 : place + reach + 1]])
    if levels[place] < _MIN_HUM_DBFS or levels[place] < float(np.median(around)) + _HUM_ABOVE_NEIGHBOURS_DB:
        return None
    before, middle, after = levels[place - 1 : place + 2]
    curvature = before - 2.0 * middle + after
    return (place + (0.5 * (before - after) / curvature if curvature < 0 else 0.0)) * bin_hz


def _without_dc(samples: FloatArray, _sample_rate: int) -> FloatArray | None:
    mean = float(samples.mean())
    return samples - mean if abs(mean) > _MIN_DC else None


def _without_hum(samples: FloatArray, sample_rate: int) -> FloatArray | None:
    lines = find_hum(samples, sample_rate)
    if not lines:
        return None
    from scipy import signal  # noqa: PLC0415 - not needed to list voices

    for hertz in lines:
        numerator, denominator = signal.iirnotch(hertz, hertz / _NOTCH_HZ, fs=sample_rate)
        samples = signal.filtfilt(numerator, denominator, samples)
    return samples


def _without_clipping(samples: FloatArray, sample_rate: int) -> FloatArray | None:
    """Interpolate runs at the largest or smallest value, or return None if there are none or too many."""
    is_clipped = np.zeros(len(samples), bool)
    runs = []
    for sign in (1.0, -1.0):
        side = sign * samples
        at_limit = side >= side.max() - _CLIPPED_TOLERANCE
        edges = np.flatnonzero(np.diff(np.concatenate([[False], at_limit, [False]]).astype(np.int8)))
        runs += [
            (start, end, sign)
            for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
            if end - start >= _CLIPPED_RUN_SAMPLES
        ]
    for start, end, _ in runs:
        is_clipped[start:end] = True
    if len(runs) < _MIN_CLIPPED_RUNS or is_clipped.mean() > _MAX_CLIPPED_SHARE:
        return None
    from scipy.interpolate import CubicSpline  # noqa: PLC0415 - not needed to list voices

    repaired = samples.copy()
    for start, end, sign in runs:
        around = np.arange(max(0, start - 3), min(len(samples), end + 3))
        known = around[~is_clipped[around]]
        if end - start > _MAX_CLIPPED_RUN_SECONDS * sample_rate or len(known) < 4:
            continue
        limit = sign * samples[start]
        peak = sign * CubicSpline(known, samples[known])(np.arange(start, end))
        repaired[start:end] = sign * np.clip(peak, limit, _MAX_OVERSHOOT * limit)
    largest = float(np.abs(repaired).max())
    return repaired * min(1.0, _MAX_PEAK / largest)


def _without_room(samples: FloatArray, sample_rate: int) -> FloatArray | None:
    transform = _transform(_ROOM_FRAME_SECONDS, sample_rate)
    spectrum = transform.stft(samples)  # (bins, frames)
    for number in np.flatnonzero(transform.f <= _MAX_ROOM_HZ).tolist():
        spectrum[number] = _dereverberated(spectrum[number])
    cleaned: FloatArray = transform.istft(spectrum, k1=len(samples))
    before, after = (modulation_depth(Waveform(each.astype(np.float32), sample_rate)) for each in (samples, cleaned))
    return cleaned if after >= before + _MIN_ROOM_GAIN_DB else None


def _dereverberated(frames: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Return the (frames,) of one bin without what earlier frames predict, weighted by the power of the speech."""
    padded = np.pad(frames, (_ROOM_TAPS + _ROOM_DELAY - 1, 0))
    earlier = np.lib.stride_tricks.sliding_window_view(padded, _ROOM_TAPS)[: len(frames)]  # (frames, taps)
    dry = frames
    for _ in range(_ROOM_PASSES):
        power = np.convolve(np.abs(dry) ** 2, np.ones(3) / 3, "same")
        weighted = earlier.conj().T / np.maximum(power, 1e-4 * power.mean() + 1e-12)
        products = weighted @ earlier
        products += max(1e-9, 1e-6 * np.trace(products).real / _ROOM_TAPS) * np.eye(_ROOM_TAPS)
        dry = frames - earlier @ np.linalg.solve(products, weighted @ frames)
    return dry


def _transform(frame_seconds: float, sample_rate: int) -> ShortTimeFFT:
    """Return the transform with frames of ``frame_seconds``, a quarter of which is new in each."""
    from scipy import signal  # noqa: PLC0415 - not needed to list voices

    size = round(frame_seconds * sample_rate)
    size += -size % 4
    return signal.ShortTimeFFT(np.sqrt(signal.windows.hann(size, sym=False)), size // 4, sample_rate)


def _without_noise(samples: FloatArray, sample_rate: int) -> FloatArray | None:
    clip = Waveform(samples.astype(np.float32), sample_rate)
    if _noise_distance(clip) >= _NOISY_DB:
        return None
    from scipy import special  # noqa: PLC0415 - not needed to list voices

    transform = _transform(_NOISE_FRAME_SECONDS, sample_rate)
    spectrum = transform.stft(samples)  # (bins, frames)
    power = np.abs(spectrum) ** 2
    times = transform.t(len(samples))
    noise = np.maximum(power[:, _noise_frames(clip, times, power)].mean(axis=1), 1e-12)
    if not _has_pauses(clip):
        noise *= _QUIETEST_BIAS
    posterior = np.minimum(power / noise[:, None], 1e4)
    gains = np.empty_like(power)
    speech = np.ones(len(noise))  # power of the speech of the previous frame, relative to the noise
    for frame in range(power.shape[1]):
        here = posterior[:, frame]
        prior = np.maximum(_SMOOTHING * speech + (1 - _SMOOTHING) * np.maximum(here - 1.0, 0.0), _MIN_PRIOR)
        share = prior / (1.0 + prior)
        gain = share * np.exp(0.5 * special.exp1(np.maximum(share * here, 1e-6)))
        speech = np.minimum(gain, 1.0) ** 2 * here
        gains[:, frame] = np.clip(gain, _MIN_GAIN, 1.0)
    cleaned: FloatArray = transform.istft(spectrum * gains, k1=len(samples))
    return cleaned


def _noise_distance(clip: Waveform) -> float:
    """Return the decibels between speech and noise, or between loud and quiet frames without pauses."""
    distance_db = speech_above_noise(clip)
    if np.isfinite(distance_db):
        return distance_db
    levels = frame_levels(clip.samples, clip.sample_rate)
    return loud_level(levels) - float(np.quantile(levels, _FLOOR_QUANTILE))


def _has_pauses(clip: Waveform) -> bool:
    is_speech = speech_mask(frame_levels(clip.samples, clip.sample_rate))
    return float((~is_speech).sum()) * FRAME_SECONDS >= _MIN_PAUSES_SECONDS


def _noise_frames(clip: Waveform, times: FloatArray, power: FloatArray) -> npt.NDArray[np.intp]:
    """Return the frames of a spectrum in pauses, or the quietest ones in a clip without pauses."""
    if _has_pauses(clip):
        is_speech = speech_mask(frame_levels(clip.samples, clip.sample_rate))
        # A frame overlaps its neighbours, so those beside speech are excluded.
        near = np.convolve(is_speech, np.ones(3), "same") > 0
        chosen = near if (~near).sum() * FRAME_SECONDS >= _MIN_PAUSES_SECONDS / 2 else is_speech
        indices = np.clip((times / FRAME_SECONDS).astype(int), 0, len(chosen) - 1)
        frames = np.flatnonzero(~chosen[indices])
        if len(frames):
            return frames
    total = power.sum(axis=0)
    return np.argsort(total)[: max(4, round(_QUIETEST_SHARE * len(total)))]


def _levelled(samples: FloatArray, sample_rate: int) -> FloatArray | None:
    loud = loud_level(frame_levels(samples.astype(np.float32), sample_rate))
    if loud >= LOW_DBFS:
        return None
    largest = float(np.abs(samples).max())
    gain = min(10.0 ** ((_LOUD_DBFS - loud) / 20.0), _MAX_PEAK / max(largest, 1e-6))
    return samples * gain if gain > 1.0 else None
