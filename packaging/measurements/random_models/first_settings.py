"""The yaml and the speakers of a CosyVoice-300M folder (A4, A7)."""

from __future__ import annotations

from pathlib import Path

import torch

from measurements.random_models.reference_sizes import CheckpointPlan
from studio.model.config import FlowConfig, RelativeTransformerConfig, TransformerLMConfig

_SPEAKERS = ("中文女", "中文男", "日语男", "粤语女", "英文女", "英文男", "韩语女")


def write_speakers(folder: Path, plan: CheckpointPlan, seed: int) -> None:
    """Write ``spk2info.pt`` with the names of the released models and random embeddings."""
    generator = torch.Generator().manual_seed(seed)
    size = plan.flow.speaker_embedding_size
    speakers = {name: {"embedding": torch.randn(1, size, generator=generator)} for name in _SPEAKERS}
    torch.save(speakers, folder / "spk2info.pt")


def speech_lm_yaml(plan: CheckpointPlan) -> str:
    """Return the settings of the language model, and those at the top of the file."""
    config = plan.speech_lm
    assert isinstance(config, TransformerLMConfig)
    sampling = config.sampling
    return f"""\
sample_rate: {plan.prompt_mel.sample_rate}
text_encoder_input_size: {config.text_embedding_size}
llm_input_size: {config.decoder.size}
llm_output_size: {config.decoder.size}
spk_embed_dim: {config.speaker_embedding_size}

llm: !new:cosyvoice.llm.llm.{plan.generation.speech_lm_class}
    text_encoder_input_size: !ref <text_encoder_input_size>
    llm_input_size: !ref <llm_input_size>
    llm_output_size: !ref <llm_output_size>
    text_token_size: {config.vocabulary_size}
    speech_token_size: {config.layout.num_speech_tokens}
    length_normalized_loss: True
    lsm_weight: 0
    spk_embed_dim: !ref <spk_embed_dim>
    text_encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
{_conformer(config.text_encoder, "!ref <text_encoder_input_size>")}
        use_dynamic_chunk: False
        use_dynamic_left_chunk: False
        static_chunk_size: 1
    llm: !new:cosyvoice.transformer.encoder.TransformerEncoder
        input_size: !ref <llm_input_size>
        output_size: !ref <llm_output_size>
        attention_heads: {config.decoder.num_heads}
        linear_units: {config.decoder.feed_forward_size}
        num_blocks: {config.decoder.num_blocks}
        dropout_rate: 0.1
        positional_dropout_rate: 0.1
        attention_dropout_rate: 0.0
        input_layer: 'linear_legacy'
        pos_enc_layer_type: 'rel_pos_espnet'
        selfattention_layer_type: 'rel_selfattn'
        static_chunk_size: 1
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: {sampling.top_p}
        top_k: {sampling.top_k}
        win_size: {sampling.window_tokens}
        tau_r: {sampling.repetition_ratio}
"""


def flow_head_yaml(flow: FlowConfig) -> str:
    """Return the settings of the flow's encoder and length regulator."""
    assert flow.encoder is not None
    assert flow.length_regulator is not None
    regulator = flow.length_regulator
    return f"""\
    input_frame_rate: {regulator.token_rate}
    only_mask_loss: True
    encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
{_conformer(flow.encoder, str(flow.input_size))}
    length_regulator: !new:cosyvoice.flow.length_regulator.InterpolateRegulator
        channels: {regulator.channels}
        sampling_ratios: {[1] * regulator.num_layers}"""


def _conformer(config: RelativeTransformerConfig, input_size: str) -> str:
    return f"""\
        input_size: {input_size}
        output_size: {config.size}
        attention_heads: {config.num_heads}
        linear_units: {config.feed_forward_size}
        num_blocks: {config.num_blocks}
        dropout_rate: 0.1
        positional_dropout_rate: 0.1
        attention_dropout_rate: 0.0
        normalize_before: True
        input_layer: 'linear'
        pos_enc_layer_type: 'rel_pos_espnet'
        selfattention_layer_type: 'rel_selfattn'
        use_cnn_module: False
        macaron_style: False"""
