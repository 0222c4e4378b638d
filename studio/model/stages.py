"""Protocols of the synthesis stages, which every engine implements, streaming included.

A stage exists as long as the model. The state of one utterance is in the object that a stage opens: a
generator of speech tokens, a ``FlowStream`` or a ``VocoderStream``. Streams of one stage are independent.
The plain PyTorch stages in this package are the reference for all other engines.

Shapes are ``(channels, frames)``, without a batch dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from studio.model.options import SamplingOptions

FloatArray = npt.NDArray[np.float32]
AttentionMap = npt.NDArray[np.float32]  # (speech tokens, text tokens)


class SpeechTokenizer(Protocol):
    """Audio features to speech tokens. Reference: the network in the model folder, under ONNX Runtime."""

    def tokenize(self, log_mel: FloatArray) -> tuple[int, ...]:
        """Return one speech token per four frames of a Whisper log-mel (128, frames). Raise ``ClipTooLong``."""
        ...


class SpeakerEncoder(Protocol):
    """Computes a speaker embedding. The reference runs the network of the model folder in ONNX Runtime."""

    def embed(self, fbank: FloatArray) -> FloatArray:
        """Return the speaker embedding (192,) of a mean-free Kaldi filter bank (frames, 80)."""
        ...


class TokenSampler(Protocol):
    """Selects the speech tokens of one utterance, with the random generator of that utterance."""

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        """Draw a token from unnormalised ``logits`` (head_rows,), which must not be modified.

        ``history`` contains all tokens sampled so far. The ids ``forbid`` must not be drawn yet, because of the minimum length.
        """
        ...


@dataclass(frozen=True, slots=True, order=True)
class AttentionHead:
    layer: int
    head: int


@dataclass(slots=True)
class AttentionTrace:
    """Attention of ``heads`` to the text of one sentence.

    Attributes:
        weights: The mean attention of the heads, or None before the sentence has ended, and if the engine that
            generated it does not record attention.
    """

    heads: tuple[AttentionHead, ...]
    weights: AttentionMap | None = None


@dataclass(frozen=True, slots=True)
class SpeechTokenRequest:
    """One sentence for the speech language model, as token ids (specification E2, E3, E5, E6).

    Attributes:
        min_tokens: Minimum number of speech tokens. The default is twice the number of text tokens.
        max_tokens: Maximum number of speech tokens. The default is 20 times the number of text tokens.
        attention: Receives the attention to the text, if the engine can record it. Engines may ignore it.
        speaker: Speaker embedding (192 values) for CosyVoice-300M. Later generations do not use it.
    """

    text_tokens: tuple[int, ...]
    prompt_text_tokens: tuple[int, ...] = ()
    prompt_speech_tokens: tuple[int, ...] = ()
    min_tokens: int | None = None
    max_tokens: int | None = None
    attention: AttentionTrace | None = field(default=None, repr=False, compare=False)
    speaker: tuple[float, ...] | None = field(default=None, repr=False)


class SpeechLM(Protocol):
    """Generates speech tokens from text tokens."""

    sampling: SamplingOptions
    engine: str  # description of the implementation and its precision
    # Generating this many lines at once, each on its own thread, is faster than one after another. The memory suffices
    # for one more line.
    max_concurrent_lines: int

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """Yield new speech tokens, without prompt tokens and stop ids.

        Closing the iterator ends the work. Raise ``SequenceTooLong``.
        """
        ...


@dataclass(frozen=True, slots=True)
class FlowPrompt:
    """Flow input from a voice prompt of P speech tokens. A speaker without a clip has no tokens and no mel."""

    speech_tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)  # (frames, 80), natural logarithm
    embedding: FloatArray = field(repr=False)  # (192,)


class FlowPromptState(Protocol):
    """State of the flow after a prompt: read-only and shared by all streams of the voice."""

    @property
    def num_bytes(self) -> int: ...

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Return the state as named tensors for storage. ``FlowDecoder.restore_prompt`` reads them."""
        ...


class FlowStream(Protocol):
    """Flow state of one utterance: speech tokens in, mel frames out, in order."""

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """Return the mel (80, frames) of the next ``tokens``.

        ``lookahead`` contains the next ``lookahead_tokens`` tokens after them, or is empty in the last call. In all
        other calls of an exact stream, prompt and tokens so far must end on the chunk grid. Otherwise raise
        ``OffGridCut``.
        """
        ...

    def close(self) -> None:
        """Free the memory. The stream cannot be used afterwards."""
        ...


class FlowDecoder(Protocol):
    """Converts speech tokens and a voice prompt to a mel spectrogram."""

    chunk_tokens: int
    lookahead_tokens: int
    # Whether a stream equals one streaming run over the utterance. Otherwise chunks are cross-faded approximations.
    streams_exactly: bool
    # Up to this number of lines of usual length, concurrency is faster. One more line fits in memory.
    max_concurrent_lines: int

    def frames_of_tokens(self, num_tokens: int) -> int:
        """Return the number of mel frames of ``num_tokens`` speech tokens."""
        ...

    def with_steps(self, num_steps: int) -> FlowDecoder | None:
        """Return this flow with fewer solver steps than the released ones, or None if the engine does not have it.

        The weights are shared. Prompt states belong to one number of steps.
        """
        ...

    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """Compute the caches of all steps and layers after the prompt, once per voice.

        ``progress`` receives the completed share, 0..1, and may raise to cancel.
        """
        ...

    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """Restore a stored state. Raise ``ValueError`` if the tensors do not match prompt and model."""
        ...

    def prompt_key(self) -> str:
        """Return a key for everything that affects a prompt state except the prompt: weights, steps, precision."""
        ...

    def open_stream(self, state: FlowPromptState) -> FlowStream: ...

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """Return the mel (80, frames) of a whole utterance, with full attention (export quality)."""
        ...


class VocoderStream(Protocol):
    """Vocoder state of one utterance."""

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """Return the samples (n,), in -1..1, that become final with the next frames ``mel`` (80, frames).

        All calls together return exactly ``samples_per_frame`` samples per frame.
        """
        ...


class SourceNoise(Protocol):
    """Noise in the vocoder's source signal, by absolute sample index (specification G4, G8)."""

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return noise (stop - start, 9) float32, one column per harmonic."""
        ...

    def initial_phases(self) -> torch.Tensor | None:
        """Return the phases (9,) at which the harmonics begin, in radians, or None if all are 0."""
        ...


class Vocoder(Protocol):
    """Converts a mel spectrogram to a waveform."""

    sample_rate: int
    samples_per_frame: int

    def noise(self, seed: int) -> SourceNoise:
        """Return the noise of an utterance: a constant table in CosyVoice3, drawn with ``seed`` in the others."""
        ...

    def open_stream(self, noise: SourceNoise) -> VocoderStream: ...

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """Return the samples (samples_per_frame x frames,) of a whole ``mel`` (80, frames)."""
        ...
