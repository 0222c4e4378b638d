"""A prepared prompt: the features of a voice's clip for one model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

_MEL_BINS = 80


@dataclass(frozen=True, slots=True)
class VoicePrompt:
    """Features of a clip, computed once per clip and model (SPECIFICATION.md, B6 and C5).

    Attributes:
        key: Identifies the clip, transcript and model. Prompts with equal keys are equal.
        speech_tokens: (P,), 25 per second, or 50 in CosyVoice-300M. Empty for a voice without a clip.
        mel: (frames, 80), natural logarithm: two frames per token, except in CosyVoice-300M.
        embedding: (192,), not normalised.
        flow_start_tokens: Number of first tokens that only the language model receives. Their mel is not used.
    """

    key: str
    name: str
    transcript: str | None
    clip_seconds: float
    speech_tokens: tuple[int, ...]
    mel: npt.NDArray[np.float32] = field(repr=False)
    embedding: npt.NDArray[np.float32] = field(repr=False)
    warnings: tuple[str, ...] = ()
    flow_start_tokens: int = 0

    @property
    def num_tokens(self) -> int:
        return len(self.speech_tokens)

    @property
    def flow_tokens(self) -> tuple[int, ...]:
        """The tokens that the flow continues."""
        return self.speech_tokens[self.flow_start_tokens :]

    @property
    def num_flow_tokens(self) -> int:
        return self.num_tokens - self.flow_start_tokens

    @property
    def flow_mel(self) -> npt.NDArray[np.float32]:
        """The mel of ``flow_tokens``: (frames, 80)."""
        frames_per_token = len(self.mel) // max(1, self.num_tokens)
        return self.mel[frames_per_token * self.flow_start_tokens :]


def speaker_prompt(name: str, embedding: npt.NDArray[np.float32]) -> VoicePrompt:
    """Return the prompt of a speaker without a clip."""
    return VoicePrompt(
        key="",
        name=name,
        transcript=None,
        clip_seconds=0.0,
        speech_tokens=(),
        mel=np.zeros((0, _MEL_BINS), dtype=np.float32),
        embedding=embedding,
    )
