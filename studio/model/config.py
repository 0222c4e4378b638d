"""Model settings as plain data, which ``generations.py`` reads from a model folder.

This module does not import torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from studio.model.options import SamplingOptions


class Precision(Enum):
    """Number format of weights and matrix multiplications. float32 is the reference."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"
    INT8 = "int8"
    INT4 = "int4"


@dataclass(frozen=True, slots=True)
class QwenConfig:
    """Settings from ``CosyVoice-BlankEN/config.json`` (specification E4)."""

    vocabulary_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    rope_theta: float = 1_000_000.0
    rms_norm_eps: float = 1e-6
    max_positions: int = 32_768
    head_size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "head_size", self.hidden_size // self.num_heads)


@dataclass(frozen=True, slots=True)
class SpeechTokenLayout:
    """Special ids of a generation, which follow its speech tokens (specification E3, E5, E6)."""

    num_speech_tokens: int  # any id from this number on ends the sequence
    num_rows: int  # rows of the head, and of ``speech_embedding`` except in CosyVoice-300M
    has_llm_embedding: bool
    head_has_bias: bool
    sos_row: int  # index into ``llm_embedding`` if it exists, otherwise into ``speech_embedding``
    task_row: int  # likewise
    end_id: int
    fill_id: int | None  # None in CosyVoice-300M, which does not interleave text and speech

    @property
    def stop_ids(self) -> range:
        return range(self.num_speech_tokens, self.num_rows)


@dataclass(frozen=True, slots=True)
class SpeechLMConfig:
    backbone: QwenConfig
    layout: SpeechTokenLayout
    sampling: SamplingOptions = SamplingOptions()
    # Block sizes of interleaved generation, while text still arrives (specification E7). 0: not trained for it.
    interleave_text_tokens: int = 5
    interleave_speech_tokens: int = 15

    @property
    def vocabulary_size(self) -> int:
        """Number of text tokens."""
        return self.backbone.vocabulary_size

    @property
    def max_positions(self) -> int:
        return self.backbone.max_positions


@dataclass(frozen=True, slots=True)
class RelativeTransformerConfig:
    """Transformer layers with relative positions in CosyVoice-300M (specification E3, F3, F4)."""

    size: int
    num_heads: int
    feed_forward_size: int
    num_blocks: int

    @property
    def head_size(self) -> int:
        return self.size // self.num_heads


@dataclass(frozen=True, slots=True)
class TransformerLMConfig:
    """Speech language model of CosyVoice-300M: a text encoder before a causal transformer (specification E3)."""

    vocabulary_size: int
    text_embedding_size: int
    text_encoder: RelativeTransformerConfig
    decoder: RelativeTransformerConfig
    layout: SpeechTokenLayout
    speaker_embedding_size: int = 192
    sampling: SamplingOptions = SamplingOptions()
    max_positions: int = 5000  # length of the official position table


# Settings of a speech language model of any generation.
AnySpeechLMConfig = SpeechLMConfig | TransformerLMConfig


@dataclass(frozen=True, slots=True)
class SolverConfig:
    """Euler steps on a cosine grid with classifier-free guidance (specification F2)."""

    num_steps: int = 10
    guidance_scale: float = 0.7

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of steps that a flow can be run with: the released one, then fewer of them, cheapest first."""
        return (self.num_steps, *(count for count in REDUCED_STEPS if count < self.num_steps))


# Numbers of solver steps for the reduced qualities, cheapest first. At equal cost, they are closer to the exact solver
# than guidance in only some of the steps (`packaging/measurements/qualities.md`).
REDUCED_STEPS = (3, 4, 5, 6, 7, 8)


@dataclass(frozen=True, slots=True)
class ConformerConfig:
    """Flow encoder of CosyVoice2 (specification F5)."""

    size: int
    num_heads: int
    feed_forward_size: int
    num_blocks: int  # layers at token rate
    num_up_blocks: int = 4  # layers at frame rate


@dataclass(frozen=True, slots=True)
class UNetConfig:
    """Estimator of CosyVoice2 and, with two levels and without causality, of CosyVoice-300M (specification F6)."""

    channels: int
    num_heads: int
    head_size: int
    num_mid_blocks: int
    num_transformer_blocks: int
    num_levels: int = 1  # each level after the first has half of the time resolution
    is_causal: bool = True


@dataclass(frozen=True, slots=True)
class LengthRegulatorConfig:
    """Interpolation from speech tokens to mel frames in CosyVoice-300M (specification F4)."""

    channels: int
    num_layers: int  # convolutions with normalisation
    token_rate: int  # per second
    sample_rate: int
    hop_samples: int

    def frames_of_tokens(self, num_tokens: int) -> int:
        return int(num_tokens / self.token_rate * self.sample_rate / self.hop_samples)


@dataclass(frozen=True, slots=True)
class DiTConfig:
    """Estimator of CosyVoice3 (specification F7)."""

    size: int
    depth: int
    num_heads: int
    head_size: int
    feed_forward_ratio: int


@dataclass(frozen=True, slots=True)
class LookAheadConfig:
    """Look-ahead layer of CosyVoice3 (specification F7)."""

    in_channels: int
    channels: int


@dataclass(frozen=True, slots=True)
class FlowConfig:
    """Settings of the flow.

    CosyVoice-300M has ``encoder``, ``length_regulator`` and ``unet``; CosyVoice2 has ``conformer`` and ``unet``;
    CosyVoice3 has ``lookahead`` and ``dit``. The numbers per token apply to the last two.
    """

    num_speech_tokens: int
    input_size: int
    mel_bins: int = 80
    speaker_embedding_size: int = 192
    frames_per_token: int = 2
    lookahead_tokens: int = 3
    chunk_tokens: int = 25
    solver: SolverConfig = SolverConfig()
    encoder: RelativeTransformerConfig | None = None
    length_regulator: LengthRegulatorConfig | None = None
    conformer: ConformerConfig | None = None
    unet: UNetConfig | None = None
    lookahead: LookAheadConfig | None = None
    dit: DiTConfig | None = None

    @property
    def grid_tokens(self) -> int:
        """The spacing of positions where a chunk may end. In CosyVoice-300M, it may end anywhere."""
        return self.chunk_tokens if self.length_regulator is None else 1

    def frames_of_tokens(self, num_tokens: int) -> int:
        """Return the number of mel frames of ``num_tokens`` speech tokens."""
        if self.length_regulator is not None:
            return self.length_regulator.frames_of_tokens(num_tokens)
        return self.frames_per_token * num_tokens


class VocoderKind(Enum):
    NON_CAUSAL = "centred"  # CosyVoice2: convolutions see past and future
    SAMPLE_PHASE = "sample phase"  # CosyVoice-300M: the same, with the phase of the source summed by sample
    CAUSAL = "causal"  # CosyVoice3


@dataclass(frozen=True, slots=True)
class FlowSizesForNoise:
    """Sizes of the flow that the official program builds before CosyVoice3's vocoder.

    They determine how many random numbers it draws, and so the constant noise of the vocoder (specification G8).
    """

    num_speech_tokens: int = 6561
    input_size: int = 80
    mel_bins: int = 80
    speaker_embedding_size: int = 192


@dataclass(frozen=True, slots=True)
class VocoderConfig:
    """Settings of the HiFT vocoder (specification G)."""

    kind: VocoderKind
    sample_rate: int
    base_channels: int
    f0_channels: int
    mel_bins: int = 80
    num_harmonics: int = 8
    sine_amplitude: float = 0.1
    noise_amplitude: float = 0.003
    voiced_threshold_hz: float = 10.0
    upsample_rates: tuple[int, ...] = (8, 5, 3)
    upsample_kernel_sizes: tuple[int, ...] = (16, 11, 7)
    resblock_kernel_sizes: tuple[int, ...] = (3, 7, 11)
    resblock_dilations: tuple[int, ...] = (1, 3, 5)
    source_resblock_kernel_sizes: tuple[int, ...] = (7, 7, 11)
    stft_size: int = 16
    stft_hop: int = 4
    leaky_relu_slope: float = 0.1
    audio_limit: float = 0.99
    look_right_frames: int = 4
    preceding_flow: FlowSizesForNoise = FlowSizesForNoise()


@dataclass(frozen=True, slots=True)
class PromptMelConfig:
    """Settings of the mel spectrogram that conditions the flow (specification C4)."""

    sample_rate: int
    window_samples: int = 1920
    hop_samples: int = 480
    mel_bins: int = 80
    min_hz: float = 0.0
    max_hz: float | None = None
