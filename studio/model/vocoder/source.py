"""Source signal: sines at the harmonics of the pitch plus noise, mixed into one channel (specification G4).

Order and precision of operations are as in training. The phase is a sum over all frames so far. It is
accumulated in float64 and rounded once, so that a sum carried across chunks rounds to the same numbers.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.config import VocoderConfig


def cumulative_phase(f0: torch.Tensor, config: VocoderConfig, before: torch.Tensor | None = None) -> torch.Tensor:
    """Return the running sums over frames of the cycles per sample: (batch, harmonics, frames) float64.

    ``f0`` is (batch, frames). ``before`` (batch, harmonics): the sums at the frame before the first.
    """
    harmonics = torch.arange(1, config.num_harmonics + 2, device=f0.device, dtype=f0.dtype)
    cycles = ((f0[:, None] * harmonics[:, None] / config.sample_rate) % 1).double()
    if before is not None:
        # Prepended instead of added to the sums, to keep the order of additions of a single run.
        return torch.cat((before[:, :, None], cycles), dim=-1).cumsum(-1)[:, :, 1:]
    return cycles.cumsum(-1)


def radians(sums: torch.Tensor, samples_per_frame: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the phase in the middle of each frame.

    Over minutes it grows until float32 rounds it by hundredths of a radian, as in training.
    """
    return sums.to(dtype) * 2 * math.pi * samples_per_frame


def nearest_upsample(phase: torch.Tensor, samples_per_frame: int) -> torch.Tensor:
    """Repeat the phase within each frame, as in CosyVoice3."""
    return phase.repeat_interleave(samples_per_frame, dim=-1)


def linear_upsample(phase: torch.Tensor, samples_per_frame: int) -> torch.Tensor:
    """Interpolate the phase between the middles of frames, as in CosyVoice2."""
    return F.interpolate(phase, scale_factor=float(samples_per_frame), mode="linear", align_corners=False)


class HarmonicSource(nn.Module):
    """Mixes harmonics and noise: mainly sines in voiced frames, noise in unvoiced ones."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.l_linear = nn.Linear(config.num_harmonics + 1, 1)
        self._config = config

    def mixture(self, f0: torch.Tensor, phase: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Return the harmonics with noise (batch, samples, harmonics).

        ``f0`` (batch, frames), ``phase`` in radians (batch, harmonics, samples), ``noise`` (samples, harmonics).
        """
        config = self._config
        samples_per_frame = phase.shape[-1] // f0.shape[-1]
        is_voiced = (f0 > config.voiced_threshold_hz).to(f0.dtype)
        is_voiced = is_voiced.repeat_interleave(samples_per_frame, dim=-1)[:, :, None]  # (batch, samples, 1)
        noise_gain = is_voiced * config.noise_amplitude + (1 - is_voiced) * config.sine_amplitude / 3
        sines = phase.sin().transpose(1, 2) * config.sine_amplitude
        return sines * is_voiced + noise_gain * noise.to(f0)

    def forward(self, f0: torch.Tensor, phase: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Return the source signal (batch, samples). See ``mixture``."""
        mixed: torch.Tensor = self.l_linear(self.mixture(f0, phase, noise))
        return mixed.tanh().squeeze(-1)
