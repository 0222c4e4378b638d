"""A prepared prompt: the features of a voice's clip for one model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class VoicePrompt:
    """Features of a clip, computed once per clip and model (SPECIFICATION.md, B6 and C5).

    Attributes:
        key: Identifies the clip, transcript and model. Prompts with equal keys are equal.
        speech_tokens: (P,), 25 per second.
        mel: (2P, 80), natural logarithm.
        embedding: (192,), not normalised.
    """

    key: str
    name: str
    transcript: str | None
    clip_seconds: float
    speech_tokens: tuple[int, ...]
    mel: npt.NDArray[np.float32] = field(repr=False)
    embedding: npt.NDArray[np.float32] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def num_tokens(self) -> int:
        return len(self.speech_tokens)
