"""Requests, their results, and engine options. No torch: the window and the CLI import this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.model.config import SamplingOptions


class Mode(Enum):
    """Synthesis mode (specification B6), derived from the contents of a request."""

    ZERO_SHOT = "zero-shot"
    CROSS_LINGUAL = "cross-lingual"
    INSTRUCT = "instruct"
    CONVERSION = "voice conversion"


@dataclass(frozen=True, slots=True)
class VoiceReference:
    """A voice given by its clip: an audio file, or a ``.safetensors`` of prompt features (an imported stored voice)."""

    clip: Path
    transcript: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A text to synthesize. ``text`` of any length is split into sentences.

    At most one of ``instruct`` (free text without control tokens) and ``preset`` (an id of the style list, such as
    ``dialect.sichuan``) is set. ``is_streaming`` false means whole-utterance mode: full attention, and audio only
    when a sentence is complete. ``text_is_normalized`` disables the normaliser. ``trims_leading_silence`` removes
    silence generated before the first word, but not a pause at the start of the text. If ``is_played`` is false,
    playback starts only after synthesis; then every sentence of implausible length is generated again.
    ``forced_tokens`` (benchmarks) is the number of tokens to generate for each sentence.
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
    """A recording to convert to another voice. Recordings over 30 s are split at silence."""

    source: Path
    voice: VoiceReference
    speed: float = 1.0
    seed: int = 0
    is_streaming: bool = True


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Consecutive audio: ``samples`` (n,) float32 in -1..1."""

    samples: npt.NDArray[np.float32] = field(repr=False)
    sample_rate: int
    sentence_index: int = 0
    num_sentences: int = 1

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate


class LengthVerdict(Enum):
    """Result of the length check of a sentence. The values are stored in projects."""

    TOO_SHORT = "too-short"
    TOO_LONG = "too-long"


@dataclass(frozen=True, slots=True)
class LengthFinding:
    """A sentence whose speech is too short or too long for its text."""

    spoken_text: str
    verdict: LengthVerdict


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """Measurements of one request. ``stages``: seconds spent in each stage, by name.

    ``warnings`` concern the clip of the voice. ``odd_lengths``: sentences of implausible length.
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
    """Options for loading a model.

    ``speech_lm_precision``: ``float32``, ``bfloat16``, ``float16``, ``int8`` or ``auto`` (the fastest that passes
    the quality check on this machine). ``flow_precision``: the same without ``int8`` and ``auto``. ``variant``
    ``rl`` selects ``llm.rl.pt``. ``num_threads`` None uses all physical cores. ``flow_steps`` and
    ``flow_left_context_frames`` are approximations; None is exact. ``engines``: ``plain`` torch; ``proven``, those
    verified on this machine; or ``improve``, which also builds and tests faster ones while idle.
    ``loads_speech_lm`` false delays loading of the language model, which voice conversion does not need.
    Memory is released after ``idle_release_seconds`` without a request.
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
    """Description of a loaded model and its engines, for the status bar, ``--json`` and bug reports.

    ``engines``: name of each stage's engine (as in ``timbre engines``), by key of ``stages``. ``weights_key``
    depends on the weights but not on their path; empty if unknown. ``max_concurrent_lines``: number of lines up to
    which concurrent synthesis is faster (batch export).
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
    """Summary of a prepared voice, for the user."""

    name: str
    clip_seconds: float
    prompt_tokens: int
    first_hop_tokens: int
    warnings: tuple[str, ...] = ()
