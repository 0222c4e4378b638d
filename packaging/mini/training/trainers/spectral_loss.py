"""Spectral distances of two signals: magnitude at several resolutions, mel, and with phase."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from studio.voices.features import slaney_filter_bank
from training.corpus.utterance import MEL_BINS, SAMPLE_RATE
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME as SAMPLES_PER_FRAME

# Magnitudes below that of a sine with this amplitude (-74 dB) are inaudible and count as equal.
_INAUDIBLE = 2e-4
_MEL_SIZE = 1920
_MEL_HOP = 240
_MEL_FLOOR = 1e-3


@dataclass(frozen=True, slots=True)
class Resolution:
    size: int
    hop: int


RESOLUTIONS = (Resolution(1024, 256), Resolution(512, 128), Resolution(256, 64), Resolution(128, 32))
# For comparison with phase: one window that resolves harmonics, one that resolves pulses.
_PHASE_RESOLUTIONS = (Resolution(1024, 256), Resolution(256, 64))
_MAX_PHASE_HZ = (
    1_500.0  # the phase above is learned last; until then, its errors would only teach the network to be silent
)


class SpectralDistance(nn.Module):
    """Windows and filter bank for the distances, on one device."""

    bank: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        for size in {each.size for each in (*RESOLUTIONS, *_PHASE_RESOLUTIONS)} | {_MEL_SIZE}:
            self.register_buffer(f"window_{size}", torch.hann_window(size))
        bank = torch.tensor(slaney_filter_bank(SAMPLE_RATE, _MEL_SIZE, MEL_BINS, 0.0, None), dtype=torch.float32)
        self.register_buffer("bank", bank)

    def magnitudes(self, made: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
        """Return the mean over resolutions of logarithmic and relative distances of audio (batch, samples)."""
        total = made.new_zeros(())
        for each in RESOLUTIONS:
            one = _magnitude(self._spectrum(made, each))
            other = _magnitude(self._spectrum(true, each))
            in_log = ((one + _INAUDIBLE).log() - (other + _INAUDIBLE).log()).abs().mean()
            in_proportion = (one - other).abs().sum() / (other.sum() + _INAUDIBLE * other.numel())
            total = total + in_log + 0.5 * in_proportion
        return total / len(RESOLUTIONS)

    def mels(self, made: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
        """Return the distance of log-mels with the model's parameters, at twice the frame rate."""
        return (self._log_mel(made) - self._log_mel(true)).abs().mean()

    def waves(self, made: torch.Tensor, true: torch.Tensor, is_voiced: torch.Tensor) -> torch.Tensor:
        """Return the distance including phase below the limit frequency, in frames where ``is_voiced`` (batch, frames):
        0 for equal audio, about 1 for unrelated audio.

        Bins are weighted by the root of their magnitude.
        """
        total = made.new_zeros(())
        for each in _PHASE_RESOLUTIONS:
            highest = int(_MAX_PHASE_HZ * each.size / SAMPLE_RATE)
            one, other = (self._spectrum(sound, each)[:, 1:highest] for sound in (made, true))
            size = _magnitude(other)
            centres = torch.arange(size.shape[-1], device=made.device) * each.hop // SAMPLES_PER_FRAME
            mask = is_voiced[:, centres.clamp(max=is_voiced.shape[-1] - 1)].to(size.dtype)[:, None]
            weight = mask * (size + _INAUDIBLE).rsqrt()
            total = total + (weight * _magnitude(one - other)).sum() / ((weight * size).sum() + 1e-3)
        return total / len(_PHASE_RESOLUTIONS)

    def _spectrum(self, sound: torch.Tensor, resolution: Resolution) -> torch.Tensor:
        """Scaled so that a sine has its own amplitude."""
        window = getattr(self, f"window_{resolution.size}")
        spectrum = torch.stft(sound, resolution.size, resolution.hop, window=window, return_complex=True)
        return spectrum * (4.0 / resolution.size)

    def _log_mel(self, sound: torch.Tensor) -> torch.Tensor:
        window = getattr(self, f"window_{_MEL_SIZE}")
        spectrum = torch.stft(sound, _MEL_SIZE, _MEL_HOP, window=window, return_complex=True)
        mel: torch.Tensor = self.bank @ _magnitude(spectrum)
        return (mel + _MEL_FLOOR).log()


def _magnitude(spectrum: torch.Tensor) -> torch.Tensor:
    """Return the magnitude without the infinite slope of ``abs`` at zero."""
    return (spectrum.real.square() + spectrum.imag.square() + 1e-12).sqrt()
