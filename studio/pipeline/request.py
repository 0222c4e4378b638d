"""What a person asks for, frozen, and what comes back. No torch: the window and the terminal import this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.model.config import SamplingOptions


class Mode(Enum):
    """How the model is asked (specification B6); chosen for the user from what the request holds."""

    ZERO_SHOT = "zero-shot"
    CROSS_LINGUAL = "cross-lingual"
    INSTRUCT = "instruct"
    CONVERSION = "voice conversion"


@dataclass(frozen=True, slots=True)
class VoiceReference:
    """A voice by its clip: any sound file, or a ``.safetensors`` of prompt features (an imported stored voice)."""

    clip: Path
    transcript: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A text to be spoken. ``text`` may be of any length; it is split into sentences.

    At most one of ``instruct`` (free words, without control tokens) and ``preset`` (an id of the
    style list, for example ``dialect.sichuan``). ``is_streaming`` false means whole-utterance mode:
    full attention, sound only when each sentence is complete. ``text_is_normalized`` switches the
    normaliser off. ``trims_leading_silence`` leaves out the silence that the model makes before the first
    word; a pause that the text begins with stays. ``is_played`` false means that nothing is heard before all is
    made: then a sentence whose speech is too short or too long for its text is made once more. ``forced_tokens``
    (benchmarks) makes the language model emit that many tokens a sentence, whatever it would rather say.
    """

    text: str
    voice: VoiceReference
    instruct: str | None = None
    preset: str | None = None
    speed: float = 1.0
    seed: int = 0
    is_streaming: bool = True
    text_is_normalized: bool = False
    sampling: SamplingOptions | None = None
    first_hop_tokens: int | None = None
    forced_tokens: int | None = None
    is_played: bool = True
    trims_leading_silence: bool = False

    @property
    def mode(self) -> Mode:
        if self.instruct or self.preset:
            return Mode.INSTRUCT
        return Mode.ZERO_SHOT if self.voice.transcript else Mode.CROSS_LINGUAL


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """A recording to be spoken again in another voice (at most 30 s a piece; longer ones are cut at silence)."""

    source: Path
    voice: VoiceReference
    speed: float = 1.0
    seed: int = 0
    is_streaming: bool = True


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Sound in the order it is to be played: ``samples`` (n,) float32 in -1..1."""

    samples: npt.NDArray[np.float32] = field(repr=False)
    sample_rate: int
    sentence_index: int = 0
    num_sentences: int = 1

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate


class LengthVerdict(Enum):
    """What the length of a sentence says of it. The values are stored in projects."""

    TOO_SHORT = "too-short"
    TOO_LONG = "too-long"


@dataclass(frozen=True, slots=True)
class LengthFinding:
    """A sentence whose speech is too short or too long for its text."""

    spoken_text: str
    verdict: LengthVerdict


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """What one request cost, all measured. ``stages``: seconds spent in each stage, by name.

    ``warnings`` are about the clip of the voice; ``odd_lengths`` are sentences whose speech is too short or
    too long for their text.
    """

    first_audio_seconds: float
    audio_seconds: float
    total_seconds: float
    sample_rate: int
    mode: Mode
    num_speech_tokens: int
    stages: dict[str, float]
    engine: dict[str, str]
    spoken_text: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    odd_lengths: tuple[LengthFinding, ...] = ()

    @property
    def real_time_factor(self) -> float:
        return self.total_seconds / self.audio_seconds if self.audio_seconds else 0.0


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How a model is to be loaded; lives as long as it is.

    ``speech_lm_precision``: ``float32``, ``bfloat16``, ``float16``, ``int8`` or ``auto`` (the fastest
    that passes its quality check on this machine). ``flow_precision`` likewise, without ``int8``.
    ``variant`` ``rl`` takes ``llm.rl.pt``. ``num_threads`` of None: chosen from the machine.
    ``flow_steps`` and ``flow_left_context_frames`` are approximations: None keeps the exact ones.
    ``engines``: ``plain`` torch, what is ``proven`` on this machine already, or ``improve``: that, and faster ones
    are looked for while nobody speaks. ``loads_speech_lm`` false leaves the language model out until a text is to be
    spoken: voice conversion needs none. Memory is given back after ``idle_release_seconds`` without a request.
    """

    device: str = "cpu"
    speech_lm_precision: str = "auto"
    flow_precision: str = "float32"
    variant: str | None = None
    num_threads: int | None = None
    voice_memory_bytes: int | None = None
    voice_disk_bytes: int = 8 * 2**30
    flow_steps: int | None = None
    flow_left_context_frames: int | None = None
    engines: str = "proven"
    idle_release_seconds: float | None = None
    loads_speech_lm: bool = True


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """What speaks here, in words: for the status bar, ``--json`` and bug reports.

    ``engines``: the name of each stage's engine among all there are (``timbre engines``), by the keys of ``stages``.
    ``weights_key`` is the same for the same weights, wherever they lie; empty where nobody knew.
    ``max_concurrent_lines``: so many lines are made sooner together than one after the other (batch export).
    """

    model_name: str
    generation: str
    folder: str
    sample_rate: int
    device: str
    stages: dict[str, str]
    makes_noise: bool = False
    notes: tuple[str, ...] = ()
    weights_key: str = ""
    engines: Mapping[str, str] = field(default_factory=dict)
    max_concurrent_lines: int = 1


@dataclass(frozen=True, slots=True)
class VoiceSummary:
    """A prepared voice: how much of the clip is used, and what a person should know of it."""

    name: str
    clip_seconds: float
    prompt_tokens: int
    first_hop_tokens: int
    state_bytes: int
    warnings: tuple[str, ...] = ()
