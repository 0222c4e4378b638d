"""The sizes of the released models (specification A7, E4), and the plan of a checkpoint of any size."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.model.config import (
    AnySpeechLMConfig,
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    FlowSizesForNoise,
    LengthRegulatorConfig,
    LookAheadConfig,
    PromptMelConfig,
    QwenConfig,
    RelativeTransformerConfig,
    SpeechLMConfig,
    TransformerLMConfig,
    UNetConfig,
    VocoderConfig,
)
from studio.model.generations import GENERATIONS, Generation
from studio.text.whisper_vocabulary import NUM_WHISPER_TOKENS

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
_NUM_SPEECH_TOKENS_1 = 4096
_SAMPLE_RATE_1, _HOP_SAMPLES_1 = 22_050, 256


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """The plan of a checkpoint folder, which determines its files and the name and shape of every tensor.

    ``num_base_text_tokens``: entries of the text vocabulary below the first special token. CosyVoice-300M's vocabulary is
    not in the folder.
    """

    generation: Generation
    num_base_text_tokens: int
    speech_lm: AnySpeechLMConfig
    flow: FlowConfig
    vocoder: VocoderConfig
    prompt_mel: PromptMelConfig


def released_plan(generation_name: str) -> CheckpointPlan:
    """Return the plan of the released model of a generation: ``cosyvoice1``, ``cosyvoice2`` or ``cosyvoice3``."""
    generation = next(known for known in GENERATIONS if known.name == generation_name)
    if generation_name == "cosyvoice1":
        return _plan1(generation)
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


def _plan1(generation: Generation) -> CheckpointPlan:
    flow = FlowConfig(
        num_speech_tokens=_NUM_SPEECH_TOKENS_1,
        input_size=512,
        lookahead_tokens=0,
        encoder=RelativeTransformerConfig(size=512, num_heads=8, feed_forward_size=2048, num_blocks=6),
        length_regulator=LengthRegulatorConfig(
            channels=80,
            num_layers=4,
            token_rate=generation.token_rate,
            sample_rate=_SAMPLE_RATE_1,
            hop_samples=_HOP_SAMPLES_1,
        ),
        unet=UNetConfig(256, 8, 64, num_mid_blocks=12, num_transformer_blocks=4, num_levels=2, is_causal=False),
    )
    transformer = RelativeTransformerConfig(size=1024, num_heads=16, feed_forward_size=4096, num_blocks=14)
    return CheckpointPlan(
        generation=generation,
        num_base_text_tokens=0,
        speech_lm=TransformerLMConfig(
            vocabulary_size=NUM_WHISPER_TOKENS,
            text_embedding_size=512,
            text_encoder=replace(transformer, num_blocks=6),
            decoder=transformer,
            layout=generation.speech_token_layout(_NUM_SPEECH_TOKENS_1),
        ),
        flow=flow,
        vocoder=VocoderConfig(
            kind=generation.vocoder_kind,
            sample_rate=_SAMPLE_RATE_1,
            base_channels=512,
            f0_channels=512,
            upsample_rates=(8, 8),
            upsample_kernel_sizes=(16, 16),
            source_resblock_kernel_sizes=(7, 11),
            preceding_flow=preceding_flow(flow),
        ),
        prompt_mel=PromptMelConfig(
            sample_rate=_SAMPLE_RATE_1, window_samples=1024, hop_samples=_HOP_SAMPLES_1, max_hz=8000.0
        ),
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
