"""A prepared prompt: what a clip yields for one model before any flow or language model sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class VoicePrompt:
    """Features of a voice's clip, computed once per clip and model (specification B6, C5).

    ``speech_tokens`` (P,) at 25 a second; ``mel`` (2P, 80) natural log; ``embedding`` (192,), not
    normalised. ``key`` names clip, transcript and model: equal keys, equal prompts.
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
