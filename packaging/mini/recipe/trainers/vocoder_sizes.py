"""The bundled vocoder's shape: CosyVoice3's causal HiFT, at a quarter of its width."""

from __future__ import annotations

from recipe.corpus.utterance import MEL_BINS, SAMPLE_RATE
from studio.model.config import VocoderConfig, VocoderKind

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
    )
