"""Features of every utterance: the prompt mel of the third generation, and F0 on the same frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.audio.waveform import Waveform
from studio.voices.features import prompt_mel
from training.corpus.utterance import MEL_BINS, SAMPLE_RATE, SAMPLES_PER_HALF_FRAME, FloatArray

_FRAME_SECONDS = SAMPLES_PER_HALF_FRAME / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class MelSettings:
    """The prompt mel of the third generation (specification C4)."""

    sample_rate: int = SAMPLE_RATE
    window_samples: int = 1920
    hop_samples: int = SAMPLES_PER_HALF_FRAME
    mel_bins: int = MEL_BINS
    min_hz: float = 0.0
    max_hz: float | None = None


MEL_SETTINGS = MelSettings()


def mel_of(samples: FloatArray) -> FloatArray:
    """Return the mel, (samples // 480, 80). Frame k is centred on the k-th interval of 20 ms."""
    return prompt_mel(Waveform(samples, SAMPLE_RATE), MEL_SETTINGS)


def f0_of(samples: FloatArray, *, floor_hz: float = 60.0, ceiling_hz: float = 500.0) -> FloatArray:
    """Return praat's F0 at the middle of each 20 ms, (samples // 480,), or 0 if unvoiced. ``floor_hz`` is below 150."""
    import parselmouth  # noqa: PLC0415 - only who makes speech needs praat

    num_frames = len(samples) // SAMPLES_PER_HALF_FRAME
    # Praat centres its frames. With this much silence around the samples, its frames are aligned with ours.
    margin = round((1.5 / floor_hz - _FRAME_SECONDS / 2) * SAMPLE_RATE)
    slack = SAMPLE_RATE // 1000
    padded = np.pad(samples.astype(np.float64), (margin, margin + slack))
    sound = parselmouth.Sound(padded, sampling_frequency=SAMPLE_RATE)
    pitch = sound.to_pitch_ac(time_step=_FRAME_SECONDS, pitch_floor=floor_hz, pitch_ceiling=ceiling_hz)
    heard = pitch.selected_array["frequency"]
    f0 = np.zeros(num_frames, np.float32)
    f0[: len(heard)] = heard[:num_frames]
    return f0
