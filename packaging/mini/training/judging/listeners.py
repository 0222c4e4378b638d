"""Judges that were not trained here: DNSMOS of the quality, and Resemblyzer of the voice. Their weights are in wheels."""

from __future__ import annotations

import sys
import types
from functools import lru_cache
from typing import Any

import numpy as np

from studio.audio.waveform import Waveform
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed, FloatArray

_RATE = 16_000


def quality(samples: FloatArray) -> float:
    """Return DNSMOS P.835, overall, from 1 to 5."""
    try:
        from speechmos import dnsmos  # noqa: PLC0415 - of the training's requirements
    except ImportError:
        raise CorpusFailed("speechmos is missing. Install it: pip install speechmos") from None
    at_16k = Waveform(samples, SAMPLE_RATE).resampled(_RATE).samples
    return float(dnsmos.run(np.clip(at_16k, -1.0, 1.0), sr=_RATE)["ovrl_mos"])


def voice_embedding(samples: FloatArray) -> FloatArray:
    """Return Resemblyzer's embedding, of length one. Cosines between embeddings are similarities."""
    at_16k = Waveform(samples, SAMPLE_RATE).resampled(_RATE).samples
    embedding: FloatArray = _encoder().embed_utterance(at_16k)
    return embedding


def energy_above_8_khz_db(samples: FloatArray) -> float:
    """Return the energy above 8 kHz relative to all energy, in dB."""
    power = np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2
    frequencies = np.fft.rfftfreq(len(samples), 1 / SAMPLE_RATE)
    return float(10.0 * np.log10(max(power[frequencies > 8000.0].sum(), 1e-12) / max(power.sum(), 1e-12)))


@lru_cache(maxsize=1)
def _encoder() -> Any:
    # Resemblyzer imports webrtcvad, which must be compiled, and uses it only to trim recordings.
    sys.modules.setdefault("webrtcvad", types.ModuleType("webrtcvad"))
    try:
        from resemblyzer import VoiceEncoder  # noqa: PLC0415 - of the training's requirements
    except ImportError:
        raise CorpusFailed("resemblyzer is missing. Install it: pip install --no-deps resemblyzer") from None
    return VoiceEncoder("cpu", verbose=False)
