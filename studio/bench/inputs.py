"""Extent and inputs of the benchmark. The inputs are the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import torch

from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FloatArray, FlowPrompt

_CLIP_RATE = 24_000
_SYLLABLES_PER_SECOND = 4.0
_SMOOTHED_FRAMES = 8

# About ten seconds of speech in one sentence, so that one utterance is measured.
SENTENCE = (
    "The harbour was quiet in the early morning, and the only sound to be heard was that of the water "
    "moving slowly against the old wooden boats along the pier."
)
TRANSCRIPT = "A few seconds of speech are enough to clone a voice."


# What can be measured alone, in the order of the measurements.
PARTS = ("loading", "speech_lm", "flow", "vocoder", "requests", "lengths")


@dataclass(frozen=True, slots=True)
class BenchSize:
    """The extent of the measurements."""

    prompt_seconds: tuple[float, ...]
    speech_seconds: float
    cost_seconds: tuple[float, ...]  # lengths of speech whose cost per second is compared
    num_speech_tokens: int  # steps of the language model
    num_repeats: int  # repetitions for a median
    parts: frozenset[str]  # of ``PARTS``


FULL = BenchSize(
    prompt_seconds=(3.0, 10.0),
    speech_seconds=10.0,
    cost_seconds=(5.0, 30.0, 120.0),
    num_speech_tokens=200,
    num_repeats=3,
    parts=frozenset(PARTS),
)
QUICK = BenchSize(
    prompt_seconds=(3.0,),
    speech_seconds=3.0,
    cost_seconds=(5.0,),
    num_speech_tokens=50,
    num_repeats=1,
    parts=frozenset(PARTS),
)


def random_prompt(num_tokens: int, num_speech_tokens: int, *, num_frames: int, seed: int = 7) -> FlowPrompt:
    """Return random prompt features whose mel has about the level and smoothness of speech."""
    random = np.random.default_rng((seed, num_tokens))
    return FlowPrompt(
        speech_tokens=tuple(random.integers(0, num_speech_tokens, num_tokens).tolist()),
        mel=np.ascontiguousarray(random_mel(num_frames, seed=seed).T),
        embedding=random.standard_normal(192).astype(np.float32),
    )


def random_mel(num_frames: int, *, seed: int = 11) -> FloatArray:
    """Return a random log-mel spectrogram, (80, num_frames) float32."""
    random = np.random.default_rng((seed, num_frames))
    values = random.standard_normal((80, num_frames + _SMOOTHED_FRAMES))
    sums = np.cumsum(values, axis=1)
    smooth = (sums[:, _SMOOTHED_FRAMES:] - sums[:, :-_SMOOTHED_FRAMES]) / np.sqrt(_SMOOTHED_FRAMES)
    mel: FloatArray = (1.5 * smooth - 5.0).astype(np.float32)
    return mel


def random_tokens(count: int, num_tokens: int, *, seed: int = 13) -> tuple[int, ...]:
    """Return ``count`` token ids below ``num_tokens``."""
    return tuple(np.random.default_rng((seed, count)).integers(0, num_tokens, count).tolist())


def write_clip(path: Path, seconds: float, *, seed: int = 17) -> None:
    """Write a mono WAV with syllable-like loudness that passes the checks for clips."""
    random = np.random.default_rng(seed)
    time = np.arange(int(seconds * _CLIP_RATE)) / _CLIP_RATE
    pitch = 120.0 + 30.0 * np.sin(2 * np.pi * 0.5 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / _CLIP_RATE
    buzz = sum(np.sin(harmonic * phase) / harmonic for harmonic in range(1, 20))
    loudness = 0.25 + 0.75 * np.sin(np.pi * _SYLLABLES_PER_SECOND * time) ** 2
    samples = 0.1 * loudness * (buzz + 0.2 * random.standard_normal(len(time)))
    soundfile.write(path, samples.astype(np.float32), _CLIP_RATE, subtype="PCM_16")


class ForcedTokens:
    """A sampler that samples as usual, so that the time is measured, and returns predetermined tokens."""

    def __init__(self, tokens: Sequence[int], options: SamplingOptions) -> None:
        self._tokens = tokens
        self._sample = RepetitionAwareSampler(options, seed=0)

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        self._sample(logits, history, forbid=forbid)
        return self._tokens[len(history)]
