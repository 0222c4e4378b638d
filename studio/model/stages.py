"""What every engine of a stage promises, streaming included.

A stage lasts as long as the model; what lasts as long as one utterance is the object a stage opens
(a generator of speech tokens, a ``FlowStream``, a ``VocoderStream``). Streams share a stage without
touching each other. The plain PyTorch stages of this room are the reference for all other engines.

Shapes are written ``(channels, frames)``; the batch of one is left out at this border.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from studio.model.config import SamplingOptions

FloatArray = npt.NDArray[np.float32]


class SpeechTokenizer(Protocol):
    """Sound to speech tokens; the reference is the model folder's own network under ONNX Runtime."""

    def tokenize(self, log_mel: FloatArray) -> tuple[int, ...]:
        """The speech tokens of a Whisper log-mel (128, frames): a quarter as many. Raises ``ClipTooLong``."""
        ...


class SpeakerEncoder(Protocol):
    """Sound to the embedding that says whose voice it is; the reference as for ``SpeechTokenizer``."""

    def embed(self, fbank: FloatArray) -> FloatArray:
        """The speaker embedding (192,) of a mean-free Kaldi filter bank (frames, 80)."""
        ...


class TokenSampler(Protocol):
    """Chooses one speech token. Made per utterance; holds that utterance's random generator."""

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        """Draws from ``logits`` (head_rows,), unnormalised, not to be modified.

        ``history``: all tokens sampled so far; ``forbid``: ids that must not be drawn now (minimum length).
        """
        ...


@dataclass(frozen=True, slots=True)
class SpeechTokenRequest:
    """One sentence for the speech language model. Token ids throughout (specification E2, E5, E6).

    ``min_tokens``/``max_tokens`` of None mean the generation's rule: 2 and 20 times the text tokens.
    ``num_instruction_tokens`` of the prompt text come before everything else where text arrives in pieces:
    CosyVoice3's prompt up to and including ``<|endofprompt|>`` (E7), none in CosyVoice2.
    """

    text_tokens: tuple[int, ...]
    prompt_text_tokens: tuple[int, ...] = ()
    prompt_speech_tokens: tuple[int, ...] = ()
    min_tokens: int | None = None
    max_tokens: int | None = None
    num_instruction_tokens: int = 0


class SpeechLM(Protocol):
    """Text tokens to speech tokens."""

    sampling: SamplingOptions
    engine: str  # in words: what multiplies, and how exactly
    max_concurrent_lines: (
        int  # so many gain by being spoken at the same time, each on a thread of its own; one more has room
    )

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """Speech tokens as they are made; the prompt's are not repeated, stop ids never appear.

        Closing the iterator ends the work. Raises ``SequenceTooLong``.
        """
        ...

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """The same while the text is still arriving (specification E7); ``request.text_tokens`` is empty."""
        ...


@dataclass(frozen=True, slots=True)
class FlowPrompt:
    """What the flow hears of a voice: ``speech_tokens`` (P,), ``mel`` (2P, 80) natural-log, ``embedding`` (192,)."""

    speech_tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)
    embedding: FloatArray = field(repr=False)


class FlowPromptState(Protocol):
    """Everything the prompt contributes to the flow: read-only, shared by every stream of the voice."""

    @property
    def num_bytes(self) -> int: ...

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """All of it by name, for a file; ``FlowDecoder.restore_prompt`` takes them back."""
        ...


class FlowStream(Protocol):
    """The flow's side of one utterance: speech tokens in, mel frames out, in order."""

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """The mel (80, 2 x len(tokens)) of the next ``tokens``.

        ``lookahead`` are the tokens that follow (exactly ``lookahead_tokens`` of them, not yet decoded),
        or empty for the last call. Prompt plus tokens so far must end on the grid unless it is the last
        call: else ``OffGridCut``.
        """
        ...

    def close(self) -> None:
        """Gives the memory back; no further call."""
        ...


class FlowDecoder(Protocol):
    """Speech tokens to mel spectrogram, given a voice."""

    chunk_tokens: int
    lookahead_tokens: int
    frames_per_token: int
    max_concurrent_lines: int  # so many of usual length gain by being decoded side by side; one more has room

    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """The voice's constant part, once per voice: caches of every step and layer after the prompt.

        ``progress`` receives the done share, 0..1; it may raise to cancel.
        """
        ...

    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """A state written earlier. Raises ``ValueError`` where the tensors do not fit prompt and model."""
        ...

    def prompt_key(self) -> str:
        """What a stored prompt state depends on beside the prompt: weights, steps, guidance, noise, precision, layout."""
        ...

    def open_stream(self, state: FlowPromptState) -> FlowStream: ...

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """The mel (80, 2 x len(tokens)) of a whole utterance at once, with full attention (export quality)."""
        ...


class VocoderStream(Protocol):
    """The vocoder's side of one utterance."""

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """Samples (n,) that are final now, in -1..1; ``mel`` (80, frames) follows the frames given before.

        Over all calls exactly ``samples_per_frame`` samples a frame come out.
        """
        ...


class SourceNoise(Protocol):
    """The random part of the vocoder's source signal, by absolute sample index (specification G4, G8)."""

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """(stop - start, 9) float32: one column a harmonic."""
        ...


class Vocoder(Protocol):
    """Mel spectrogram to waveform."""

    sample_rate: int
    samples_per_frame: int

    def noise(self, seed: int) -> SourceNoise:
        """The noise of an utterance: of ``seed`` where the generation draws it anew, else its constant table."""
        ...

    def open_stream(self, noise: SourceNoise) -> VocoderStream: ...

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """Samples (samples_per_frame x frames,) of ``mel`` (80, frames) at once."""
        ...
