"""Name and shape of every tensor of CosyVoice-300M's language model and flow (specification I1, I3)."""

from __future__ import annotations

from measurements.random_models.shape_parts import (
    UNET_KERNEL,
    UNET_WIDENING,
    Shapes,
    conv,
    linear,
    norm,
    unet_resnet,
    unet_transformer,
)
from studio.model.config import FlowConfig, RelativeTransformerConfig, TransformerLMConfig, UNetConfig

_UP_KERNEL = 4
_GROUP_NORM = 1  # index of the norm in a block, counted from the convolution


def transformer_lm_shapes(config: TransformerLMConfig) -> Shapes:
    """Return the shapes of ``llm.pt``."""
    encoder, decoder, layout = config.text_encoder, config.decoder, config.layout
    shapes: Shapes = {"text_embedding.weight": (config.vocabulary_size, config.text_embedding_size)}
    shapes |= _transformer("text_encoder", encoder, config.text_embedding_size, norms=("norm_ff", "norm_mha"))
    shapes |= linear("text_encoder_affine_layer", decoder.size, encoder.size)
    shapes["llm_embedding.weight"] = (2, decoder.size)
    shapes |= _transformer("llm", decoder, decoder.size, norms=("norm1", "norm2"))
    shapes |= linear("llm_decoder", layout.num_rows, decoder.size)
    shapes["speech_embedding.weight"] = (layout.num_speech_tokens, decoder.size)
    return shapes | linear("spk_embed_affine_layer", decoder.size, config.speaker_embedding_size)


def non_causal_flow_shapes(config: FlowConfig) -> Shapes:
    """Return the shapes of ``flow.pt`` without the embeddings that all generations have."""
    encoder, regulator, unet = config.encoder, config.length_regulator, config.unet
    assert encoder is not None
    assert regulator is not None
    assert unet is not None
    shapes = _transformer("encoder", encoder, config.input_size, norms=("norm_ff", "norm_mha"))
    shapes |= linear("encoder_proj", config.mel_bins, encoder.size)
    for layer in range(regulator.num_layers):
        shapes |= conv(f"length_regulator.model.{3 * layer}", regulator.channels, regulator.channels, UNET_KERNEL)
        shapes |= norm(f"length_regulator.model.{3 * layer + 1}", regulator.channels)
    last = f"length_regulator.model.{3 * regulator.num_layers}"
    return shapes | conv(last, regulator.channels, regulator.channels, 1) | _unet(unet, config.mel_bins)


def _transformer(root: str, config: RelativeTransformerConfig, input_size: int, *, norms: tuple[str, str]) -> Shapes:
    size = config.size
    shapes = linear(root + ".embed.out.0", size, input_size) | norm(root + ".embed.out.1", size)
    shapes |= norm(root + ".after_norm", size)
    for index in range(config.num_blocks):
        block = f"{root}.encoders.{index}."
        for bias in ("pos_bias_u", "pos_bias_v"):
            shapes[f"{block}self_attn.{bias}"] = (config.num_heads, config.head_size)
        for projection in ("linear_q", "linear_k", "linear_v", "linear_out"):
            shapes |= linear(f"{block}self_attn.{projection}", size, size)
        shapes[f"{block}self_attn.linear_pos.weight"] = (size, size)
        shapes |= linear(f"{block}feed_forward.w_1", config.feed_forward_size, size)
        shapes |= linear(f"{block}feed_forward.w_2", size, config.feed_forward_size)
        for name in norms:
            shapes |= norm(block + name, size)
    return shapes


def _unet(config: UNetConfig, mel_bins: int) -> Shapes:
    root, channels, last = "decoder.estimator.", config.channels, config.num_levels - 1
    num_inputs, time_size = 4 * mel_bins, UNET_WIDENING * channels
    shapes = linear(root + "time_mlp.linear_1", time_size, num_inputs)
    shapes |= linear(root + "time_mlp.linear_2", time_size, time_size)
    blocks = [(f"down_blocks.{level}", channels if level else num_inputs) for level in range(config.num_levels)]
    blocks += [(f"mid_blocks.{index}", channels) for index in range(config.num_mid_blocks)]
    blocks += [(f"up_blocks.{level}", 2 * channels) for level in range(config.num_levels)]
    for name, block_inputs in blocks:
        shapes |= unet_resnet(f"{root}{name}.0.", config, block_inputs, norm_place=_GROUP_NORM)
        for index in range(config.num_transformer_blocks):
            shapes |= unet_transformer(f"{root}{name}.1.{index}.", config)
    for level in range(config.num_levels):
        for part, kernel in (("down_blocks", UNET_KERNEL), ("up_blocks", _UP_KERNEL)):
            resampler = f"{root}{part}.{level}.2"
            if level < last:
                shapes |= conv(resampler + ".conv", channels, channels, kernel)
            else:
                shapes |= conv(resampler, channels, channels, UNET_KERNEL)
    shapes |= conv(root + "final_block.block.0", channels, channels, UNET_KERNEL)
    shapes |= norm(f"{root}final_block.block.{_GROUP_NORM}", channels)
    return shapes | conv(root + "final_proj", mel_bins, channels, 1)
