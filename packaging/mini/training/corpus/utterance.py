"""An utterance of a synthesizer and its speaker, the input of all trainers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 24_000
SAMPLES_PER_HALF_FRAME = 480  # 20 ms: one phone label, one mel frame, one F0 value
SAMPLES_PER_TOKEN = 2 * SAMPLES_PER_HALF_FRAME
TOKENS_PER_SECOND = 25
MEL_BINS = 80

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int32]
LabelArray = npt.NDArray[np.uint8]


class CorpusFailed(Exception):
    """Speech cannot be synthesized or read. The message contains the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """A timbre. ``split`` is "train", "validation", or "stranger" (in no training set)."""

    name: str
    engine: str
    voice: str
    accent: str
    pitch: int
    resample_ratio: float
    split: str
    median_f0_hz: float


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """An utterance. ``len(samples) == 960 * len(tokens)`` exactly; mel and F0 have two frames per token.

    ``samples`` are 24 kHz mono in -1..1, ``mel`` (2 * tokens, 80) is the prompt mel of exactly these samples, and
    ``f0_hz`` is 0 if unvoiced. ``split`` of the text is "train", "validation" or "test".
    """

    text: str
    speaker: Speaker
    style: str
    split: str
    samples: FloatArray = field(repr=False)
    tokens: IntArray = field(repr=False)
    mel: FloatArray = field(repr=False)
    f0_hz: FloatArray = field(repr=False)

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE
