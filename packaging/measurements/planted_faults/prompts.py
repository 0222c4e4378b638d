"""Prompts of the measurement, by flite and eSpeak NG. The tuning set consists of the bundled voices and eight more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from measurements.planted_faults.sentences import PROMPTS, TUNING_PROMPTS
from studio import paths
from training.synthesizers import flite
from training.synthesizers.espeak import espeak

_RATE = 24_000
# Silence around the speech, as in a recording.
_BEFORE_SECONDS, _AFTER_SECONDS = 0.1, 0.2
_LEVEL = 0.08

# (voice, F0 in Hz, duration, playback speed); none of these timbres is a bundled voice.
_FLITE = (("rms", 112.0, 1.0, 1.06), ("slt", 165.0, 1.05, 0.93), ("awb", 140.0, 1.0, 1.07), ("kal16", 105.0, 1.0, 1.02))
_TUNING_FLITE = (
    ("rms", 97.0, 1.05, 0.96), ("slt", 182.0, 1.0, 1.04), ("awb", 124.0, 1.05, 0.95), ("kal16", 118.0, 1.0, 1.07)
)  # fmt: skip
# (variant, pitch); studio-mini was not trained with these variants.
_ESPEAK = (("f4", 55), ("ian", 45), ("norbert", 50), ("shelby", 50))
_TUNING_ESPEAK = (("Andy", 50), ("paul", 45), ("quincy", 50), ("m8", 55))


@dataclass(frozen=True, slots=True)
class PromptClip:
    path: Path
    transcript: str


def tuning_prompts(folder: Path) -> list[PromptClip]:
    """Return the bundled clips, and eight that are made in ``folder`` on the first call."""
    bundled = sorted((paths.resources() / "voices").glob("*.wav"))
    return [
        *(PromptClip(clip, clip.with_suffix(".txt").read_text("utf-8").strip()) for clip in bundled),
        *_made(folder, _TUNING_FLITE, _TUNING_ESPEAK, TUNING_PROMPTS),
    ]


def measuring_prompts(folder: Path) -> list[PromptClip]:
    """Return eight clips, which are made in ``folder`` on the first call."""
    return _made(folder, _FLITE, _ESPEAK, PROMPTS)


def _made(
    folder: Path,
    of_flite: Sequence[tuple[str, float, float, float]],
    of_espeak: Sequence[tuple[str, int]],
    transcripts: Sequence[str],
) -> list[PromptClip]:
    folder.mkdir(parents=True, exist_ok=True)
    clips = []
    for number, (voice, f0, stretch, playback) in enumerate(of_flite):
        clip = PromptClip(folder / f"flite-{voice}.wav", transcripts[number % len(transcripts)])
        if not clip.path.exists():
            spoken = flite.say(clip.transcript, voice=voice, f0_mean_hz=f0, duration_stretch=stretch)
            _write(clip.path, spoken.samples, spoken.sample_rate * playback)
        clips.append(clip)
    for number, (voice, pitch) in enumerate(of_espeak):
        clip = PromptClip(folder / f"espeak-{voice}.wav", transcripts[(number + 1) % len(transcripts)])
        if not clip.path.exists():
            spoken = espeak().say(
                clip.transcript, voice=voice, accent="en-us", pitch=pitch, pitch_range=50, words_per_minute=168
            )
            _write(clip.path, spoken.samples, spoken.sample_rate)
        clips.append(clip)
    return clips


def _write(path: Path, samples: np.ndarray, sample_rate: float) -> None:
    resampled = soxr.resample(samples, sample_rate, _RATE)
    level = float(np.sqrt(np.mean(resampled**2)))
    padded = np.pad(resampled * (_LEVEL / level), (round(_BEFORE_SECONDS * _RATE), round(_AFTER_SECONDS * _RATE)))
    noise = np.random.default_rng(0).normal(scale=2.5e-5, size=len(padded))
    soundfile.write(path, np.clip(padded + noise, -1, 1).astype(np.float32), _RATE, subtype="PCM_16")
