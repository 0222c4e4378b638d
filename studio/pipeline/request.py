"""Requests, their control and results, prepared prompts, and engine options.

Does not import torch, because the window and the command line import it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.model.measurements import Verification
from studio.model.options import Quality, SamplingOptions

_MEL_BINS = 80
# A chunk is silent if no sample exceeds this level.
AUDIBLE_DBFS = -55.0


class Mode(Enum):
    """Synthesis mode (specification B6), derived from the contents of a request."""

    ZERO_SHOT = "zero-shot"
    CROSS_LINGUAL = "cross-lingual"
    INSTRUCT = "instruct"
    SPEAKER = "built-in speaker"  # a voice without a clip
    CONVERSION = "voice conversion"
    RECORDING = "recording"  # a human recording
    REPLACED_WORDS = "recording with replaced words"


@dataclass(frozen=True, slots=True)
class VoiceReference:
    """A voice, identified by its clip."""

    clip: Path  # an audio file, or a ``.safetensors`` file of prompt features for an imported stored voice
    transcript: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class KnownTokens:
    """The speech tokens of a sentence that was spoken before.

    Attributes:
        spoken_text: As in ``SentenceEvidence``.
        replaced: The first token to speak again and the end of these tokens; None keeps them all. The text of such a
            sentence may have changed.
    """

    spoken_text: str
    speech_tokens: tuple[int, ...]
    replaced: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A text to synthesize. At most one of ``instruct`` and ``preset`` is set."""

    text: str  # text of any length; it is split into sentences
    voice: VoiceReference
    instruct: str | None = None  # an instruction in free text, without control tokens
    preset: str | None = None  # an id of the style list, such as ``dialect.sichuan``
    speed: float = 1.0
    seed: int = 0
    # False selects whole-utterance mode: full attention, and no audio before a sentence is complete.
    is_streaming: bool = True
    text_is_normalized: bool = False  # True disables the normaliser
    language: str = ""  # tag of the text, such as ``de`` or ``en-GB``; empty: detected
    sampling: SamplingOptions | None = None
    first_hop_tokens: int | None = None
    forced_tokens: int | None = None  # number of tokens to generate for each sentence, for benchmarks
    # False: playback starts after synthesis, so every sentence of implausible length can be generated again.
    is_played: bool = True
    # Remove silence that is generated before the first word, but not a pause at the start of the text.
    trims_leading_silence: bool = False
    quality: Quality = Quality.EXACT
    # For a text that continues another one: the number of sentences and pauses before it. Each has its own seed.
    first_index: int = 0
    # The number of sentences and pauses at the start of the text that another request has spoken.
    num_skipped: int = 0
    # Sentences that were spoken before, in order. The language model speaks only what is replaced in these tokens.
    known_tokens: tuple[KnownTokens, ...] = ()
    # False: the text is spoken as one sentence, because the tokens of a recording are not divided into sentences.
    is_divided: bool = True

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
    quality: Quality = Quality.EXACT


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A piece of audio that follows the previous chunk without a gap."""

    samples: npt.NDArray[np.float32] = field(repr=False)  # (n,), from -1 to 1
    sample_rate: int
    sentence_index: int = 0
    num_sentences: int = 1

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    @property
    def is_audible(self) -> bool:
        return bool(np.abs(self.samples).max(initial=0.0) > 10.0 ** (AUDIBLE_DBFS / 20.0))


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
class SentenceEvidence:
    """Data of the language model about one spoken sentence, for the checks of takes.

    Attributes:
        spoken_text: The normalized sentence that the model received.
        from_seconds, to_seconds: The position of the sentence in the audio of the request.
        speech_tokens: The tokens in the audio. The last one ends at ``to_seconds``, and each lasts ``token_seconds``.
            The first ones may be missing in the audio, where leading silence was trimmed.
        text_pieces: The text tokens as text, in order; joined they are ``spoken_text``. Empty if they are unknown.
        stopped_by_limit: Whether the maximum number of tokens ended the sentence.
        num_second_draws: Number of tokens that repetition-aware sampling drew a second time.
        text_position: For each speech token, the mean index of the text pieces it attends to; empty if no attention
            head follows the text.
        text_coverage: For each text piece, the largest attention of a speech token to it; may be empty.
    """

    spoken_text: str
    from_seconds: float
    to_seconds: float
    speech_tokens: tuple[int, ...] = ()
    text_pieces: tuple[str, ...] = ()
    stopped_by_limit: bool = False
    num_second_draws: int = 0
    text_position: tuple[float, ...] = ()
    text_coverage: tuple[float, ...] = ()
    token_seconds: float = 0.0

    def seconds_of_token(self, index: float) -> float:
        """Return the time in the audio at which token ``index`` begins."""
        return self.to_seconds - (len(self.speech_tokens) - index) * self.token_seconds


@dataclass(frozen=True, slots=True)
class NetworkFigures:
    """Times measured on another computer, and delays added by the network.

    Attributes:
        latency_seconds, queue_seconds: Shares of the network and of the queue in the time to the first audio.
        real_time_factor: The other computer's, with the time in its queue.
        delay_seconds: The longest delay of a later chunk on the network, compared with the first one. The network
            lengthens no gap by more.
    """

    latency_seconds: float
    queue_seconds: float
    real_time_factor: float
    delay_seconds: float


@dataclass(frozen=True, slots=True)
class FlowQuality:
    """The quality in which a request was spoken. It is exact if the model or its engine supports no other.

    Attributes:
        distortion_db: Mel-cepstral distortion against the exact solver, measured on this computer.
        relative_seconds: Time of the flow, as a share of the time of the exact one.
    """

    quality: Quality = Quality.EXACT
    distortion_db: float = 0.0
    relative_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """Measurements of one request."""

    first_audio_seconds: float
    audio_seconds: float
    total_seconds: float
    sample_rate: int
    mode: Mode
    num_speech_tokens: int
    stages: dict[str, float]  # seconds spent in each stage, by name
    engine: dict[str, str]  # description of the engine of each stage, by name
    spoken_text: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # about the clip of the voice
    odd_lengths: tuple[LengthFinding, ...] = ()  # sentences of implausible length
    evidence: tuple[SentenceEvidence, ...] = ()  # evidence of each sentence, for the checks of takes
    voice_was_cached: bool | None = None  # whether the prompt state existed; None if unknown
    device_memory_bytes: int = 0  # memory of the worker on its device at the end; 0 if unknown
    max_concurrent_lines: int = 1  # as in ``EngineDescription``, of the engines at the end
    # Of ``first_audio_seconds``: the time in the queue of a speech service, and the time on the network. None locally.
    queue_seconds: float | None = None
    network_seconds: float | None = None
    network: NetworkFigures | None = None  # None locally, and if the other computer does not measure
    quality: FlowQuality = FlowQuality()
    num_items: int = 1  # sentences and pauses; fewer than those of the text if the request was ended early

    @property
    def real_time_factor(self) -> float:
        return self.total_seconds / self.audio_seconds if self.audio_seconds else 0.0


def joined_report(first: SynthesisReport, second: SynthesisReport) -> SynthesisReport:
    """Return the report of two requests of which the second continues the text of the first."""
    passed = first.audio_seconds
    moved = (
        replace(each, from_seconds=each.from_seconds + passed, to_seconds=each.to_seconds + passed)
        for each in second.evidence
    )
    return replace(
        first,
        audio_seconds=passed + second.audio_seconds,
        total_seconds=first.total_seconds + second.total_seconds,
        num_speech_tokens=first.num_speech_tokens + second.num_speech_tokens,
        stages={
            name: first.stages.get(name, 0.0) + second.stages.get(name, 0.0) for name in first.stages | second.stages
        },
        spoken_text=first.spoken_text + second.spoken_text,
        odd_lengths=first.odd_lengths + second.odd_lengths,
        evidence=(*first.evidence, *moved),
        device_memory_bytes=second.device_memory_bytes,
        max_concurrent_lines=second.max_concurrent_lines,
        num_items=first.num_items + second.num_items,
    )


# The precision that a comparison on this machine chooses.
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options for loading a model."""

    device: str = "cpu"
    # A value of ``Precision``, or ``auto``: the fastest precision that passes the quality check on this machine.
    speech_lm_precision: str = AUTO
    # A value of ``Precision`` except ``int4``, or ``auto`` as for the language model.
    flow_precision: str = "float32"
    variant: str | None = None  # ``rl`` selects ``llm.rl.pt``
    num_threads: int | None = None  # at most; None uses all physical cores
    voice_memory_bytes: int | None = None
    # Approximations of the flow; None is exact.
    flow_steps: int | None = None
    # Play a sentence of CosyVoice-300M before all of it is decoded; the other generations always do.
    streams_approximately: bool = False
    # ``plain``: PyTorch; ``proven``: engines verified on this machine; ``improve``: also test faster engines when idle.
    engines: str = "proven"
    loads_speech_lm: bool = (
        True  # False: load the language model on first use, because voice conversion does not need it
    )
    # For audio that is not kept: load a model at once if its precisions have not been compared, and compare them at the
    # end (``FinishWrites``). Takes that are kept are made by an engine that stays.
    compares_later: bool = False
    # Speak the lines of a batch in several processes if one line leaves cores idle.
    runs_lines_in_processes: bool = False
    # Start these processes with the model and keep them while they are idle, for a service.
    keeps_line_processes: bool = False


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """Description of a loaded model and its engines, for the status bar, ``--json`` and bug reports."""

    model_name: str
    generation: str
    folder: str
    sample_rate: int
    device: str
    stages: dict[str, str]  # description of each stage
    makes_noise: bool = False  # the weights are random
    notes: tuple[str, ...] = ()
    weights_key: str = ""  # depends on the weights but not on their path; empty if unknown
    # Name of each stage's engine, as in ``timbre engines``, by key of ``stages``.
    engines: Mapping[str, str] = field(default_factory=dict)
    # How close engines are to float32 that were compared when the model was loaded, by key of ``stages``.
    comparisons: Mapping[str, Verification] = field(default_factory=dict)
    # Number of lines up to which concurrent synthesis is faster, for batch export.
    max_concurrent_lines: int = 1
    voice_memory_bytes: int = 0  # limit of the prompt states in memory; 0 if unknown
    is_provisional: bool = False  # other precisions, with other takes, are compared later
    idle_cores: int = 0  # cores that one line leaves idle, because the model is small
    interleaves_text: bool = False  # the model can begin to speak a sentence before it is complete


@dataclass(frozen=True, slots=True)
class VoiceSummary:
    """Summary of a prepared voice, for the user."""

    name: str
    clip_seconds: float
    prompt_tokens: int
    first_hop_tokens: int
    warnings: tuple[str, ...] = ()
    state_bytes: int = 0  # size of the prompt state in memory; 0 if unknown


class Cancelled(Exception):
    """The request was cancelled. This is not shown as an error."""


class _Signal:
    """Is given once, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def is_given(self) -> bool:
        return self._event.is_set()

    def give(self) -> None:
        with self._lock:
            self._event.set()
            callbacks, self._waiting = self._waiting, []
        for wake in callbacks:
            wake()

    def when_given(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once, now if the signal has been given."""
        with self._lock:
            if not self._event.is_set():
                self._waiting.append(wake)
                return
        wake()


class RequestControl:
    """Shared by the thread that runs a request and the thread that started it. Thread-safe."""

    def __init__(
        self,
        *,
        on_progress: Callable[[str, float], None] | None = None,
        on_estimate: Callable[[float], None] | None = None,
    ) -> None:
        self._cancelled, self._stopped_early = _Signal(), _Signal()
        self._on_progress = on_progress
        self._on_estimate = on_estimate

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_given

    @property
    def is_stopped_early(self) -> bool:
        return self._stopped_early.is_given

    def cancel(self) -> None:
        """End the request within one chunk, and call the functions passed to ``when_cancelled``."""
        self._cancelled.give()

    def stop_early(self) -> None:
        """End the request after its current sentence, and call the functions passed to ``when_stopped_early``."""
        self._stopped_early.give()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once on cancellation, or now if the request is already cancelled."""
        self._cancelled.when_given(wake)

    def when_stopped_early(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` once when the request is to end early, or now if that is so already."""
        self._stopped_early.when_given(wake)

    def raise_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise Cancelled

    def report_progress(self, stage: str, done: float) -> None:
        """Report the completed share of ``stage``, from 0 to 1."""
        if self._on_progress:
            self._on_progress(stage, done)

    def report_estimate(self, seconds_until_gapless: float) -> None:
        """Report the time from the request to the earliest start of gapless playback."""
        if self._on_estimate:
            self._on_estimate(seconds_until_gapless)


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
