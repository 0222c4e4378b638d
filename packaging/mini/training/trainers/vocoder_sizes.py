"""Sizes of the bundled vocoder:

CosyVoice3's causal HiFT at half its width, with a spectrum of longer windows. Decision: windows of 64 samples with a
hop of 16. Reason: with bins of 375 Hz, formants are magnitudes that follow from the mel. With the official 16 samples
and a hop of 4, they must be generated as waveforms, which takes a small network hours instead of minutes to learn.
There are also four times fewer columns. The loader reads these sizes from the yaml, like all others.
"""

from __future__ import annotations

from studio.model.config import VocoderConfig, VocoderKind
from training.corpus.utterance import MEL_BINS, SAMPLE_RATE

FLOOR_LOG_MEL = -11.5129  # natural logarithm of 1e-5, the mel value of silence

# Approximate mean and deviation of log-mels of synthetic speech, with which first layers are initialised.
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
