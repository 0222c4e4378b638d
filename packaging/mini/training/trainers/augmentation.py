"""Recordings as a microphone in a room makes them, from the clean speech of the corpus.

Prompts are home recordings. Therefore filters, reverberation and noise are added, in one spectral pass that also changes
the speed and resamples to 16 kHz.
"""

from __future__ import annotations

import numpy as np
import torch

from studio.voices.features import slaney_filter_bank
from training.corpus.utterance import SAMPLE_RATE, FloatArray

_RATE = 16_000
_WINDOW, _HOP = 400, 160
_MEL_BINS = 128


def to_16k(samples: torch.Tensor, num_samples: int, augmenter: Augmenter | None = None) -> torch.Tensor:
    """Return (batch, num_samples) at 16 kHz of ``samples`` (batch, n) at 24 kHz, at the resulting speed."""
    length = samples.shape[1]
    spectrum = torch.fft.rfft(samples)
    # Bins are those of the slower or faster recording; frequencies above 8 kHz are removed.
    num_bins = num_samples // 2 + 1
    if spectrum.shape[1] < num_bins:
        spectrum = torch.nn.functional.pad(spectrum, (0, num_bins - spectrum.shape[1]))
    spectrum = spectrum[:, :num_bins]
    if augmenter is not None:
        spectrum = augmenter(spectrum, num_samples)
    heard: torch.Tensor = torch.fft.irfft(spectrum, n=num_samples)
    return heard * (num_samples / length)


class Augmenter:
    """Apply a random microphone, room, noise and level to the spectrum of each recording in a batch."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def __call__(self, spectrum: torch.Tensor, num_samples: int) -> torch.Tensor:
        rows, num_bins = spectrum.shape
        random = self._random
        energy = spectrum.abs().square().mean(dim=1, keepdim=True).sqrt()
        curves = self._curves(rows, num_bins, 5.0)
        spectrum = spectrum * torch.from_numpy(curves)
        in_rooms = np.flatnonzero(random.random(rows) < 0.35)
        if len(in_rooms):
            spectrum[in_rooms] *= torch.fft.rfft(torch.from_numpy(self._rooms(len(in_rooms), num_samples)))
        noise = torch.from_numpy(random.standard_normal((rows, num_bins, 2), np.float32))
        ratio = 10.0 ** (-random.uniform(8.0, 45.0, (rows, 1)) / 20.0) * (random.random((rows, 1)) < 0.8)
        level = energy * torch.from_numpy((ratio / np.sqrt(2.0)).astype(np.float32))
        hum = torch.from_numpy(self._curves(rows, num_bins, 10.0)) * level
        return spectrum + torch.view_as_complex(noise) * hum

    def _curves(self, rows: int, num_bins: int, spread_db: float) -> FloatArray:
        """Return smooth random gains over frequency (rows, bins), some of them without high frequencies."""
        random = self._random
        knots_hz = np.array([0.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2500.0, 4000.0, 6000.0, 8000.0])
        frequencies = np.linspace(0.0, _RATE / 2, num_bins)
        positions = np.interp(frequencies, knots_hz, np.arange(len(knots_hz)))
        left = np.minimum(positions.astype(np.int64), len(knots_hz) - 2)
        between = (positions - left).astype(np.float32)
        decibels = random.normal(0.0, spread_db, (rows, len(knots_hz))).astype(np.float32)
        curve = decibels[:, left] * (1 - between) + decibels[:, left + 1] * between
        tops = np.where(random.random(rows) < 0.35, random.uniform(3400.0, 8000.0, rows), 9000.0)
        curve -= 60.0 * np.clip((frequencies[None] - tops[:, None]) / 600.0, 0.0, 1.0).astype(np.float32)
        gains: FloatArray = np.power(np.float32(10.0), curve / np.float32(20.0)).astype(np.float32)
        return gains

    def _rooms(self, rows: int, num_samples: int) -> FloatArray:
        """Return impulse responses (rows, num_samples): the direct sound and a decaying tail."""
        random = self._random
        responses = np.zeros((rows, num_samples), np.float32)
        responses[:, 0] = 1.0
        length = min(num_samples, _RATE // 2)
        times = np.arange(length) / _RATE
        for row in range(rows):
            decay = np.exp(-times * 6.9 / random.uniform(0.1, 0.5))
            tail = random.standard_normal(length) * decay
            tail *= random.uniform(0.1, 0.5) / np.sqrt((tail * tail).sum())
            responses[row, :length] += tail.astype(np.float32)
        return responses


def whisper_log_mel(samples: torch.Tensor) -> torch.Tensor:
    """Return log-mels (batch, 128, n // 160) of ``samples`` (batch, n) at 16 kHz, as computed by the program."""
    window = torch.hann_window(_WINDOW, periodic=True, dtype=samples.dtype)
    spectrum = torch.stft(samples, _WINDOW, _HOP, window=window, center=True, pad_mode="reflect", return_complex=True)
    bank = torch.from_numpy(slaney_filter_bank(_RATE, _WINDOW, _MEL_BINS, 0.0, None).astype(np.float32))
    log_mel = (bank @ spectrum[..., :-1].abs().square()).clamp(min=1e-10).log10()
    floor = log_mel.amax(dim=(1, 2), keepdim=True) - 8.0
    return (torch.maximum(log_mel, floor) + 4.0) / 4.0


assert SAMPLE_RATE * 2 == _RATE * 3
