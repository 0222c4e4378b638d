"""Units of the corpus, and a speaker."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A timbre. ``split`` is "train", "validation", or "stranger" (its parts are in no training voice)."""

    name: str
    accent: str
    split: str
    median_f0_hz: float
