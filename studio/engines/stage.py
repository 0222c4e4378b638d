"""The stages an engine can run, and the place it would run at. No torch: the window and the terminal read these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """A part of a model that one engine runs; its promise is in ``studio/model/stages.py``.

    Decided: encoder, estimator and solver of the flow are one stage. Because they share caches and grid, and
    ``FlowDecoder`` is the promise the pipeline knows. A candidate may still run each by another library.
    """

    SPEECH_TOKENIZER = "speech-tokenizer"
    SPEAKER_ENCODER = "speaker-encoder"
    SPEECH_LM = "speech-lm"
    FLOW = "flow"
    VOCODER = "vocoder"


class DeviceKind(Enum):
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class Device:
    """One processor or one graphics card, as a candidate is to use it.

    ``name`` as its maker calls it. ``index`` counts graphics cards as torch does; ``compute_capability`` and
    ``driver`` (its whole version) are theirs alone. ``total_bytes`` is its memory, ``instructions`` what torch
    finds fastest on a processor ("AVX512").
    """

    kind: DeviceKind
    name: str
    num_threads: int
    total_bytes: int
    index: int = 0
    compute_capability: tuple[int, int] | None = None
    driver: str = ""
    instructions: str = ""

    @property
    def device(self) -> str:
        """As torch spells it."""
        return "cpu" if self.kind is DeviceKind.CPU else f"cuda:{self.index}"
