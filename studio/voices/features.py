"""Acoustic features of a clip: log-mel (speech tokenizer), filter bank (speaker encoder) and prompt mel (flow).

Plain numpy in float64, rounded to float32 at the end: closer to the official values than two float32 libraries are to
each other. Callers resample.

Mel filter banks are matrices from the bins of a spectrum to the bands of a network. They are read-only, and cached by
all their parameters, so that two models with different sample rates in one process do not share a matrix
(SPECIFICATION.md, J2 14).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.errors import ClipTooShort

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]

WHISPER_SAMPLE_RATE = 16_000
_WHISPER_WINDOW_SAMPLES = 400
_WHISPER_HOP_SAMPLES = 160  # 10 ms per frame
_WHISPER_MEL_BINS = 128

KALDI_SAMPLE_RATE = 16_000
_KALDI_WINDOW_SAMPLES = 400
_KALDI_HOP_SAMPLES = 160
_KALDI_FFT_SIZE = 512
_KALDI_MEL_BINS = 80
_KALDI_MIN_HZ = 20.0
_KALDI_PRE_EMPHASIS = 0.97
_KALDI_FLOOR = float(np.finfo(np.float32).eps)

# Slaney's mel scale.
_LINEAR_HZ_PER_MEL = 200.0 / 3.0
_LOG_FROM_HZ = 1000.0
_LOG_FROM_MEL = _LOG_FROM_HZ / _LINEAR_HZ_PER_MEL
_LOG_STEP = math.log(6.4) / 27.0


class PromptMelSettings(Protocol):
    """Parameters of a prompt mel, as in a model's configuration (SPECIFICATION.md, C4)."""

    @property
    def sample_rate(self) -> int: ...
    @property
    def window_samples(self) -> int: ...
    @property
    def hop_samples(self) -> int: ...
    @property
    def mel_bins(self) -> int: ...
    @property
    def min_hz(self) -> float: ...
    @property
    def max_hz(self) -> float | None: ...


def whisper_log_mel(waveform: Waveform) -> FloatArray:
    """Return (128, samples // 160): Whisper's log-mel at 16 kHz, without padding to 30 s (SPECIFICATION.md, C2).

    The floor depends on the loudest point of the whole clip, so the log-mel of a part is not a part of the log-mel.
    Raises ``ClipTooShort`` for 200 samples or fewer.
    """
    assert waveform.sample_rate == WHISPER_SAMPLE_RATE
    half = _WHISPER_WINDOW_SAMPLES // 2
    _require_more_samples_than(half, waveform)
    padded = np.pad(waveform.samples.astype(np.float64), half, mode="reflect")
    frames = _frames(padded, _WHISPER_WINDOW_SAMPLES, _WHISPER_HOP_SAMPLES)[:-1]
    spectrum = np.fft.rfft(frames * _periodic_hann(_WHISPER_WINDOW_SAMPLES))
    bank = slaney_filter_bank(WHISPER_SAMPLE_RATE, _WHISPER_WINDOW_SAMPLES, _WHISPER_MEL_BINS, 0.0, None)
    log_mel = np.log10(np.maximum(bank @ _power(spectrum).T, 1e-10))
    log_mel = np.maximum(log_mel, log_mel.max() - 8.0)
    scaled: FloatArray = ((log_mel + 4.0) / 4.0).astype(np.float32)
    return scaled


def kaldi_fbank(waveform: Waveform, *, subtract_mean: bool = True, has_hamming_window: bool = False) -> FloatArray:
    """Return (1 + (samples - 400) // 160, 80): Kaldi's filter bank of a 16 kHz waveform (SPECIFICATION.md, C3).

    ``subtract_mean`` subtracts the mean of each band over time, as the speaker encoder expects. The window is Povey's,
    or Hamming's for SenseVoice. Raises ``ClipTooShort`` for less than one frame of 400 samples.
    """
    assert waveform.sample_rate == KALDI_SAMPLE_RATE
    _require_more_samples_than(_KALDI_WINDOW_SAMPLES - 1, waveform)
    frames = _frames(waveform.samples.astype(np.float64), _KALDI_WINDOW_SAMPLES, _KALDI_HOP_SAMPLES)
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    window = np.hamming(_KALDI_WINDOW_SAMPLES) if has_hamming_window else _povey_window()
    spectrum = np.fft.rfft((frames - _KALDI_PRE_EMPHASIS * before) * window, n=_KALDI_FFT_SIZE)
    fbank = np.log(
        np.maximum(
            _power(spectrum) @ kaldi_filter_bank(KALDI_SAMPLE_RATE, _KALDI_FFT_SIZE, _KALDI_MEL_BINS, _KALDI_MIN_HZ).T,
            _KALDI_FLOOR,
        )
    )
    if subtract_mean:
        fbank = fbank - fbank.mean(axis=0)
    return fbank.astype(np.float32)


def prompt_mel(waveform: Waveform, settings: PromptMelSettings) -> FloatArray:
    """Return (samples // hop, mel bins): the natural-log mel that conditions the flow (SPECIFICATION.md, C4).

    ``waveform`` must have the sample rate of ``settings``. Raises ``ClipTooShort`` if it is too short for the padding.
    """
    assert waveform.sample_rate == settings.sample_rate
    padding = (settings.window_samples - settings.hop_samples) // 2
    _require_more_samples_than(max(padding, settings.hop_samples - 1), waveform)
    padded = np.pad(waveform.samples.astype(np.float64), padding, mode="reflect")
    frames = _frames(padded, settings.window_samples, settings.hop_samples)
    magnitude = np.sqrt(_power(np.fft.rfft(frames * _periodic_hann(settings.window_samples))) + 1e-9)
    bank = slaney_filter_bank(
        settings.sample_rate, settings.window_samples, settings.mel_bins, settings.min_hz, settings.max_hz
    )
    return np.log(np.maximum(magnitude @ bank.T, 1e-5)).astype(np.float32)


def quick_kaldi_fbank(waveform: Waveform) -> FloatArray:
    """Return ``kaldi_fbank`` without subtracting the mean, in float32: within 0.001, in a third of the time."""
    from scipy import fft  # noqa: PLC0415 - not needed to speak

    assert waveform.sample_rate == KALDI_SAMPLE_RATE
    _require_more_samples_than(_KALDI_WINDOW_SAMPLES - 1, waveform)
    frames = np.lib.stride_tricks.sliding_window_view(waveform.samples, _KALDI_WINDOW_SAMPLES)[::_KALDI_HOP_SAMPLES]
    frames = frames - frames.mean(axis=1, keepdims=True)
    windowed = np.zeros((len(frames), _KALDI_FFT_SIZE), np.float32)
    before = np.float32(_KALDI_PRE_EMPHASIS)
    windowed[:, 0] = (1 - before) * frames[:, 0]
    windowed[:, 1:_KALDI_WINDOW_SAMPLES] = frames[:, 1:] - before * frames[:, :-1]
    windowed[:, :_KALDI_WINDOW_SAMPLES] *= _povey_window().astype(np.float32)
    spectrum = fft.rfft(windowed, axis=1, overwrite_x=True)
    bank = kaldi_filter_bank(KALDI_SAMPLE_RATE, _KALDI_FFT_SIZE, _KALDI_MEL_BINS, _KALDI_MIN_HZ).astype(np.float32)
    fbank: FloatArray = np.log(np.maximum((spectrum.real**2 + spectrum.imag**2) @ bank.T, np.float32(_KALDI_FLOOR)))
    return fbank


@lru_cache(maxsize=8)
def _periodic_hann(num_samples: int) -> DoubleArray:
    # float32 as in training. This differs by 2e-7 from the exact window, which matters in quiet bands.
    angles = np.arange(num_samples, dtype=np.float32) * np.float32(2.0 * np.pi / num_samples)
    window: FloatArray = np.float32(0.5) - np.float32(0.5) * np.cos(angles)
    return window.astype(np.float64)


@lru_cache(maxsize=1)
def _povey_window() -> DoubleArray:
    steps = np.arange(_KALDI_WINDOW_SAMPLES)
    hann = 0.5 - 0.5 * np.cos(2.0 * np.pi * steps / (_KALDI_WINDOW_SAMPLES - 1))
    window: DoubleArray = np.power(hann, 0.85)
    return window


def _frames(samples: DoubleArray, window: int, hop: int) -> DoubleArray:
    """Return (frames, window): the complete frames, as a view."""
    frames: DoubleArray = np.lib.stride_tricks.sliding_window_view(samples, window)[::hop]
    return frames


def _power(spectrum: npt.NDArray[np.complex128]) -> DoubleArray:
    return spectrum.real**2 + spectrum.imag**2


def _require_more_samples_than(num_samples: int, waveform: Waveform) -> None:
    if len(waveform.samples) <= num_samples:
        raise ClipTooShort(
            "The clip lasts only {seconds:.2f} s, which is too short.",
            remedy="Choose a longer recording.",
            seconds=waveform.seconds,
        )


@lru_cache(maxsize=16)
def slaney_filter_bank(
    sample_rate: int, fft_size: int, num_bins: int, min_hz: float, max_hz: float | None
) -> DoubleArray:
    """Return (bins, fft_size // 2 + 1): triangles of equal area on Slaney's mel scale.

    If ``max_hz`` is None, the bank ends at half the sample rate.
    """
    highest_hz = sample_rate / 2 if max_hz is None else max_hz
    edges_mel = np.linspace(_slaney_mel(min_hz), _slaney_mel(highest_hz), num_bins + 2, dtype=np.float64)
    edges_hz = _slaney_hz(edges_mel)
    bank = _triangles(np.arange(fft_size // 2 + 1, dtype=np.float64) * (sample_rate / fft_size), edges_hz)
    bank *= (2.0 / (edges_hz[2:] - edges_hz[:-2]))[:, None]
    bank.setflags(write=False)
    return bank


@lru_cache(maxsize=4)
def kaldi_filter_bank(sample_rate: int, fft_size: int, num_bins: int, min_hz: float) -> DoubleArray:
    """Return (bins, fft_size // 2 + 1): triangles of height one, linear in Kaldi's mel, without the Nyquist bin."""
    bins_hz = np.arange(fft_size // 2 + 1, dtype=np.float64) * (sample_rate / fft_size)
    limits_mel = _kaldi_mel(np.array([min_hz, sample_rate / 2]))
    bank = _triangles(_kaldi_mel(bins_hz), np.linspace(limits_mel[0], limits_mel[1], num_bins + 2))
    bank[:, -1] = 0.0
    bank.setflags(write=False)
    return bank


def _triangles(points: DoubleArray, edges: DoubleArray) -> DoubleArray:
    """Return (len(edges) - 2, len(points)): row i rises from edge i to one at edge i + 1, and falls until edge i + 2."""
    rising = (points - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - points) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def _slaney_mel(hz: float) -> float:
    """Return the mel value of a frequency. The scale is linear below 1000 Hz and logarithmic above."""
    if hz < _LOG_FROM_HZ:
        return hz / _LINEAR_HZ_PER_MEL
    return _LOG_FROM_MEL + math.log(hz / _LOG_FROM_HZ) / _LOG_STEP


def _slaney_hz(mel: DoubleArray) -> DoubleArray:
    logarithmic = _LOG_FROM_HZ * np.exp(_LOG_STEP * (mel - _LOG_FROM_MEL))
    return np.where(mel < _LOG_FROM_MEL, mel * _LINEAR_HZ_PER_MEL, logarithmic)


def _kaldi_mel(hz: DoubleArray) -> DoubleArray:
    return 1127.0 * np.log1p(hz / 700.0)
