"""The bundled vocoder's shape: CosyVoice3's causal HiFT at half its width, with a spectrum of longer windows.

Decided: windows of 64 samples every 16. Because bins of 375 Hz hold a formant as a number that can be read off the mel;
in the official 16 samples every 4 it must be made as a waveform, which a small network learns in hours, not minutes.
And there are four times fewer columns to compute. The loader reads these sizes from the yaml, as it reads the others.
"""

from __future__ import annotations

from studio.model.config import VocoderConfig, VocoderKind
from training.corpus.utterance import MEL_BINS, SAMPLE_RATE

FLOOR_LOG_MEL = -11.5129  # natural logarithm of 1e-5: what the mel front end makes of silence

# What the log-mel of synthetic speech is like, roughly: first layers begin as if it were standardised.
USUAL_LOG_MEL = -6.0
USUAL_LOG_MEL_SPREAD = 2.5


def vocoder_config(*, base_channels: int, f0_channels: int) -> VocoderConfig:
    return VocoderConfig(
        kind=VocoderKind.CAUSAL,
        sample_rate=SAMPLE_RATE,
        base_channels=base_channels,
        f0_channels=f0_channels,
        mel_bins=MEL_BINS,
        upsample_rates=(5, 3, 2),
        upsample_kernel_sizes=(11, 7, 5),
        stft_size=64,
        stft_hop=16,
    )
