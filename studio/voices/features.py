"""Acoustic features of a clip: log-mel (speech tokenizer), filter bank (speaker encoder) and prompt mel (flow).

Plain numpy in float64, rounded to float32 at the end: closer to the official values than two float32 libraries are to
each other. Callers resample.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.errors import ClipTooShort
from studio.voices.filter_banks import DoubleArray, kaldi_filter_bank, slaney_filter_bank

FloatArray = npt.NDArray[np.float32]

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
    """(128, samples // 160): Whisper's log-mel of a 16 kHz waveform, without padding to 30 s (SPECIFICATION.md, C2).

    The floor follows the loudest point of the whole clip, so pieces of a clip differ from the clip.
    Raises ``ClipTooShort`` at 200 samples or fewer.
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


def kaldi_fbank(waveform: Waveform, *, subtract_mean: bool = True) -> FloatArray:
    """(1 + (samples - 400) // 160, 80): Kaldi's filter bank of a 16 kHz waveform in -1..1 (SPECIFICATION.md, C3).

    ``subtract_mean`` subtracts the mean of each band over time, as the speaker encoder expects. Raises ``ClipTooShort``
    below one frame of 400 samples.
    """
    assert waveform.sample_rate == KALDI_SAMPLE_RATE
    _require_more_samples_than(_KALDI_WINDOW_SAMPLES - 1, waveform)
    frames = _frames(waveform.samples.astype(np.float64), _KALDI_WINDOW_SAMPLES, _KALDI_HOP_SAMPLES)
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    spectrum = np.fft.rfft((frames - _KALDI_PRE_EMPHASIS * before) * _povey_window(), n=_KALDI_FFT_SIZE)
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
    """(samples // hop, mel bins): the natural-log mel the flow is conditioned on (SPECIFICATION.md, C4).

    ``waveform`` has the rate of ``settings``. Raises ``ClipTooShort`` if it is too short for the reflect padding.
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


@lru_cache(maxsize=8)
def _periodic_hann(num_samples: int) -> DoubleArray:
    # float32 throughout, as in training: it differs by 2e-7 from the exact window, which matters in quiet bands.
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
    """Return a view (frames, window) of the complete frames."""
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
