"""Effects on a rendering: the speaker's equaliser, vocal effort, whisper, and the final level."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from training.corpus.styles import Effort
from training.corpus.utterance import SAMPLE_RATE, SAMPLES_PER_HALF_FRAME, FloatArray

DoubleArray = npt.NDArray[np.float64]

LEVEL_DBFS = {Effort.MODAL: -21.0, Effort.LOUD: -15.0, Effort.SOFT: -29.0, Effort.WHISPER: -29.0}
# Frequencies of the gains in dB, with linear interpolation over log frequency between them.
EQUALISER_HZ = (150.0, 500.0, 1500.0, 3500.0, 7000.0)
_EFFORT_DB = {
    Effort.LOUD: (-3.0, 0.0, 4.0, 5.0, 4.0),
    Effort.SOFT: (2.0, 0.0, -5.0, -9.0, -11.0),
    Effort.WHISPER: (-22.0, -7.0, 0.0, 2.0, 2.0),
}
_ACTIVE_RANGE_DB = 30.0
_LEVEL_FRAME = 480
_LIMIT_FROM, _LIMIT_ROOM = 0.75, 0.22

_WHISPER_WINDOW, _WHISPER_HOP = 768, 192
_ENVELOPE_COEFFICIENTS = (
    44  # 1.8 ms: longer than the resonances of the vocal tract, shorter than the period of the voice
)
_WHISPERED_VOWELS_DB = -8.0


def equalised(samples: FloatArray, gains_db: tuple[float, ...]) -> FloatArray:
    """Return ``samples`` with gains of ``gains_db`` at ``EQUALISER_HZ``."""
    if not any(gains_db):
        return samples
    length = -(-len(samples) // 2400) * 2400  # a length with a fast Fourier transform
    frequencies = np.maximum(np.fft.rfftfreq(length, 1 / SAMPLE_RATE), 1.0)
    gain = 10.0 ** (np.interp(np.log(frequencies), np.log(EQUALISER_HZ), gains_db) / 20.0)
    spectrum = np.fft.rfft(samples.astype(np.float64), length)
    return np.fft.irfft(spectrum * gain, length)[: len(samples)].astype(np.float32)


def with_effort(samples: FloatArray, effort: Effort) -> FloatArray:
    """Make loud speech brighter and soft speech darker. The level is set separately."""
    return equalised(samples, _EFFORT_DB[effort]) if effort in _EFFORT_DB else samples


def whispered(samples: FloatArray, f0_hz: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return whispered speech: noise with the spectral envelope of ``samples``."""
    window = np.hanning(_WHISPER_WINDOW + 1)[:-1]
    padded = np.pad(samples.astype(np.float64), (_WHISPER_WINDOW, 2 * _WHISPER_WINDOW))
    noise = generator.standard_normal(len(padded))
    spectrum = _frames(padded) * window
    log_magnitude = np.log(np.abs(np.fft.rfft(spectrum)) + 1e-7)
    cepstrum = np.fft.irfft(log_magnitude)
    lifter = np.zeros(_WHISPER_WINDOW)
    lifter[:_ENVELOPE_COEFFICIENTS] = 0.5 + 0.5 * np.cos(
        np.pi * np.arange(_ENVELOPE_COEFFICIENTS) / _ENVELOPE_COEFFICIENTS
    )
    lifter[1:_ENVELOPE_COEFFICIENTS] *= 2.0  # the other half of a symmetric cepstrum
    envelope = np.exp(np.fft.rfft(cepstrum * lifter).real)
    excited = np.fft.irfft(envelope * np.fft.rfft(_frames(noise) * window) / np.sqrt((window**2).sum()))
    sound = np.zeros(len(padded))
    for number, frame in enumerate(excited * window):
        start = number * _WHISPER_HOP
        sound[start : start + _WHISPER_WINDOW] += frame
    sound = sound[_WHISPER_WINDOW : _WHISPER_WINDOW + len(samples)]
    is_voiced = np.repeat(f0_hz > 0, SAMPLES_PER_HALF_FRAME).astype(np.float64)
    is_voiced = np.pad(is_voiced, (0, max(0, len(samples) - len(is_voiced))))[: len(samples)]
    ramp = np.ones(SAMPLES_PER_HALF_FRAME) / SAMPLES_PER_HALF_FRAME
    gain_db = _WHISPERED_VOWELS_DB * np.convolve(is_voiced, ramp, mode="same")
    return (sound * 10.0 ** (gain_db / 20.0)).astype(np.float32)


def active_level_dbfs(samples: FloatArray) -> float:
    """Return the mean power of the frames within 30 dB of the loudest one, in dBFS."""
    num_frames = max(1, len(samples) // _LEVEL_FRAME)
    frames = samples[: num_frames * _LEVEL_FRAME].astype(np.float64)
    power = (frames**2).reshape(num_frames, -1).mean(axis=1)
    active = power[power >= power.max() * 10 ** (-_ACTIVE_RANGE_DB / 10)]
    return float(10 * np.log10(active.mean() + 1e-12))


def limited(samples: FloatArray) -> FloatArray:
    """Compress peaks below full scale. Quieter samples stay unchanged."""
    size = np.abs(samples)
    rounded = _LIMIT_FROM + _LIMIT_ROOM * np.tanh((size - _LIMIT_FROM) / _LIMIT_ROOM)
    return np.where(size > _LIMIT_FROM, np.sign(samples) * rounded, samples).astype(np.float32)


def _frames(samples: DoubleArray) -> DoubleArray:
    frames: DoubleArray = np.lib.stride_tricks.sliding_window_view(samples, _WHISPER_WINDOW)[::_WHISPER_HOP]
    return frames
