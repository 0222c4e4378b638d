"""The sizes of the released models (specification A7, E4), and the plan of a checkpoint of any size."""

from __future__ import annotations

from dataclasses import dataclass

from studio.model.config import (
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    FlowSizesForNoise,
    LookAheadConfig,
    PromptMelConfig,
    QwenConfig,
    SpeechLMConfig,
    UNetConfig,
    VocoderConfig,
)
from studio.model.generations import GENERATIONS, Generation

_NUM_SPEECH_TOKENS = 6561
_QWEN = QwenConfig(
    vocabulary_size=151_936,
    hidden_size=896,
    intermediate_size=4864,
    num_layers=24,
    num_heads=14,
    num_kv_heads=2,
)
_SAMPLE_RATE = 24_000


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """The plan of a checkpoint folder, which determines its files and the name and shape of every tensor.

    ``num_base_text_tokens``: entries of the text vocabulary below the first special token.
    """

    generation: Generation
    num_base_text_tokens: int
    speech_lm: SpeechLMConfig
    flow: FlowConfig
    vocoder: VocoderConfig
    prompt_mel: PromptMelConfig


def released_plan(generation_name: str) -> CheckpointPlan:
    """Return the plan of the released model of a generation: ``cosyvoice2`` or ``cosyvoice3``."""
    generation = next(known for known in GENERATIONS if known.name == generation_name)
    is_second = generation_name == "cosyvoice2"
    flow = _flow2() if is_second else _flow3()
    return CheckpointPlan(
        generation=generation,
        num_base_text_tokens=151_643,
        speech_lm=SpeechLMConfig(backbone=_QWEN, layout=generation.speech_token_layout(_NUM_SPEECH_TOKENS)),
        flow=flow,
        vocoder=VocoderConfig(
            kind=generation.vocoder_kind,
            sample_rate=_SAMPLE_RATE,
            base_channels=512,
            f0_channels=512,
            preceding_flow=preceding_flow(flow),
        ),
        prompt_mel=PromptMelConfig(sample_rate=_SAMPLE_RATE, max_hz=8000.0 if is_second else None),
    )


def preceding_flow(flow: FlowConfig) -> FlowSizesForNoise:
    """Return the vocoder's parameters that depend on the flow."""
    return FlowSizesForNoise(flow.num_speech_tokens, flow.input_size, flow.mel_bins, flow.speaker_embedding_size)


def _flow2() -> FlowConfig:
    return FlowConfig(
        num_speech_tokens=_NUM_SPEECH_TOKENS,
        input_size=512,
        conformer=ConformerConfig(size=512, num_heads=8, feed_forward_size=2048, num_blocks=6),
        unet=UNetConfig(channels=256, num_heads=8, head_size=64, num_mid_blocks=12, num_transformer_blocks=4),
    )


def _flow3() -> FlowConfig:
    return FlowConfig(
        num_speech_tokens=_NUM_SPEECH_TOKENS,
        input_size=80,
        lookahead=LookAheadConfig(in_channels=80, channels=1024),
        dit=DiTConfig(size=1024, depth=22, num_heads=16, head_size=64, feed_forward_ratio=2),
    )
