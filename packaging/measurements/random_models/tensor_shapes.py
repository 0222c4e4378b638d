"""Name and shape of every tensor in the three weight files (specification I), for any sizes."""

from __future__ import annotations

from measurements.random_models.first_shapes import non_causal_flow_shapes, transformer_lm_shapes
from measurements.random_models.shape_parts import (
    UNET_KERNEL,
    UNET_WIDENING,
    Shapes,
    conv,
    linear,
    norm,
    normed,
    unet_resnet,
    unet_transformer,
)
from studio.model.config import (
    AnySpeechLMConfig,
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    LookAheadConfig,
    SpeechLMConfig,
    TransformerLMConfig,
    UNetConfig,
    VocoderConfig,
    VocoderKind,
)

TIED_HEAD = "llm.model.lm_head.weight"  # shares its storage with TIED_TABLE
TIED_TABLE = "llm.model.model.embed_tokens.weight"

_TIME_FEATURES = 256  # size of the DiT's timestep embedding
_POSITION_GROUPS, _POSITION_KERNEL = 16, 31  # the DiT's position convolution
_LOOK_AHEAD_KERNEL, _SMOOTH_KERNEL, _UP_KERNEL = 4, 3, 5
_LAYER_NORM = 2  # its place after the convolution of a U-Net's block
_F0_LAYERS = (0, 2, 4, 6, 8)


def speech_lm_shapes(config: AnySpeechLMConfig) -> Shapes:
    """Return the shapes of ``llm.pt`` (I1, I2)."""
    return transformer_lm_shapes(config) if isinstance(config, TransformerLMConfig) else _qwen_lm_shapes(config)


def _qwen_lm_shapes(config: SpeechLMConfig) -> Shapes:
    qwen, layout = config.backbone, config.layout
    hidden, kv_size = qwen.hidden_size, qwen.num_kv_heads * qwen.head_size
    shapes: Shapes = {}
    if layout.has_llm_embedding:
        shapes["llm_embedding.weight"] = (2, hidden)
    shapes[TIED_TABLE] = (qwen.vocabulary_size, hidden)
    for index in range(qwen.num_layers):
        layer = f"llm.model.model.layers.{index}."
        shapes |= linear(layer + "self_attn.q_proj", hidden, hidden)
        shapes |= linear(layer + "self_attn.k_proj", kv_size, hidden)
        shapes |= linear(layer + "self_attn.v_proj", kv_size, hidden)
        shapes[layer + "self_attn.o_proj.weight"] = (hidden, hidden)
        shapes[layer + "mlp.gate_proj.weight"] = (qwen.intermediate_size, hidden)
        shapes[layer + "mlp.up_proj.weight"] = (qwen.intermediate_size, hidden)
        shapes[layer + "mlp.down_proj.weight"] = (hidden, qwen.intermediate_size)
        shapes[layer + "input_layernorm.weight"] = (hidden,)
        shapes[layer + "post_attention_layernorm.weight"] = (hidden,)
    shapes["llm.model.model.norm.weight"] = (hidden,)
    shapes[TIED_HEAD] = (qwen.vocabulary_size, hidden)
    shapes["llm_decoder.weight"] = (layout.num_rows, hidden)
    if layout.head_has_bias:
        shapes["llm_decoder.bias"] = (layout.num_rows,)
    shapes["speech_embedding.weight"] = (layout.num_rows, hidden)
    return shapes


def flow_shapes(config: FlowConfig) -> Shapes:
    """Return the shapes of ``flow.pt`` (I3, I4)."""
    shapes: Shapes = {"input_embedding.weight": (config.num_speech_tokens, config.input_size)}
    shapes |= linear("spk_embed_affine_layer", config.mel_bins, config.speaker_embedding_size)
    if config.length_regulator:
        shapes |= non_causal_flow_shapes(config)
    if config.conformer and config.unet:
        shapes |= _conformer(config.conformer, config.input_size)
        shapes |= linear("encoder_proj", config.mel_bins, config.conformer.size)
        shapes |= _unet(config.unet, config.mel_bins)
    if config.lookahead and config.dit:
        shapes |= _look_ahead("pre_lookahead_layer", config.lookahead)
        shapes |= _dit(config.dit, config.mel_bins)
    return shapes


def vocoder_shapes(config: VocoderConfig) -> Shapes:
    """Return the shapes of ``hift.pt`` (I5), with the newer names of weight normalisation."""
    is_causal = config.kind is VocoderKind.CAUSAL
    base, spectrum = config.base_channels, config.stft_size + 2
    pre_kernel = config.look_right_frames + 1 if is_causal else 7
    shapes = linear("m_source.l_linear", 1, config.num_harmonics + 1)
    shapes |= normed("conv_pre", (base, config.mel_bins, pre_kernel))
    num_stages = len(config.upsample_rates)
    widths = [base >> stage for stage in range(num_stages + 1)]
    for stage, kernel in enumerate(config.upsample_kernel_sizes):
        wide, narrow = widths[stage], widths[stage + 1]
        shape = (narrow, wide, kernel) if is_causal else (wide, narrow, kernel)
        shapes |= normed(f"ups.{stage}", shape, num_outputs=narrow)
    for stage, kernel in enumerate(config.source_resblock_kernel_sizes):
        stride = 1
        for rate in config.upsample_rates[stage + 1 :]:
            stride *= rate
        width = widths[stage + 1]
        shapes |= conv(f"source_downs.{stage}", width, spectrum, 2 * stride if stride > 1 else 1)
        shapes |= _resblock(f"source_resblocks.{stage}", width, kernel, len(config.resblock_dilations))
    for stage in range(num_stages):
        for branch, kernel in enumerate(config.resblock_kernel_sizes):
            index = stage * len(config.resblock_kernel_sizes) + branch
            shapes |= _resblock(f"resblocks.{index}", widths[stage + 1], kernel, len(config.resblock_dilations))
    shapes |= normed("conv_post", (spectrum, widths[-1], 7))
    for layer in _F0_LAYERS:
        num_inputs = config.mel_bins if layer == 0 else config.f0_channels
        kernel = 4 if is_causal and layer == 0 else 3
        shapes |= normed(f"f0_predictor.condnet.{layer}", (config.f0_channels, num_inputs, kernel))
    return shapes | linear("f0_predictor.classifier", 1, config.f0_channels)


def _conformer(config: ConformerConfig, input_size: int) -> Shapes:
    size = config.size
    shapes: Shapes = {}
    for embed, num_inputs in (("embed", input_size), ("up_embed", size)):
        shapes |= linear(f"encoder.{embed}.out.0", size, num_inputs) | norm(f"encoder.{embed}.out.1", size)
    shapes |= norm("encoder.after_norm", size)
    shapes |= _look_ahead("encoder.pre_lookahead_layer", LookAheadConfig(in_channels=size, channels=size))
    shapes |= conv("encoder.up_layer.conv", size, size, _UP_KERNEL)
    for stack, num_blocks in (("encoders", config.num_blocks), ("up_encoders", config.num_up_blocks)):
        for index in range(num_blocks):
            block = f"encoder.{stack}.{index}."
            for bias in ("pos_bias_u", "pos_bias_v"):
                shapes[f"{block}self_attn.{bias}"] = (config.num_heads, size // config.num_heads)
            for projection in ("linear_q", "linear_k", "linear_v", "linear_out"):
                shapes |= linear(f"{block}self_attn.{projection}", size, size)
            shapes[f"{block}self_attn.linear_pos.weight"] = (size, size)
            shapes |= linear(f"{block}feed_forward.w_1", config.feed_forward_size, size)
            shapes |= linear(f"{block}feed_forward.w_2", size, config.feed_forward_size)
            shapes |= norm(f"{block}norm_ff", size) | norm(f"{block}norm_mha", size)
    return shapes


def _unet(config: UNetConfig, mel_bins: int) -> Shapes:
    root, channels = "decoder.estimator.", config.channels
    num_inputs, time_size = 4 * mel_bins, UNET_WIDENING * channels
    shapes = linear(root + "time_mlp.linear_1", time_size, num_inputs)
    shapes |= linear(root + "time_mlp.linear_2", time_size, time_size)
    blocks = [("down_blocks.0", num_inputs, True)]
    blocks += [(f"mid_blocks.{index}", channels, False) for index in range(config.num_mid_blocks)]
    blocks += [("up_blocks.0", 2 * channels, True)]
    for name, block_inputs, has_resampler in blocks:
        shapes |= unet_resnet(f"{root}{name}.0.", config, block_inputs, norm_place=_LAYER_NORM)
        for index in range(config.num_transformer_blocks):
            shapes |= unet_transformer(f"{root}{name}.1.{index}.", config)
        if has_resampler:
            shapes |= conv(f"{root}{name}.2", channels, channels, UNET_KERNEL)
    shapes |= conv(root + "final_block.block.0", channels, channels, UNET_KERNEL)
    shapes |= norm(root + "final_block.block.2", channels)
    return shapes | conv(root + "final_proj", mel_bins, channels, 1)


def _dit(config: DiTConfig, mel_bins: int) -> Shapes:
    root, size = "decoder.estimator.", config.size
    attention_size, feed_forward_size = config.num_heads * config.head_size, config.feed_forward_ratio * size
    shapes = linear(root + "time_embed.time_mlp.0", size, _TIME_FEATURES)
    shapes |= linear(root + "time_embed.time_mlp.2", size, size)
    shapes |= linear(root + "input_embed.proj", size, 4 * mel_bins)
    for part in ("conv1", "conv2"):
        name = f"{root}input_embed.conv_pos_embed.{part}.0"
        shapes |= conv(name, size, size // _POSITION_GROUPS, _POSITION_KERNEL)
    shapes[root + "rotary_embed.inv_freq"] = (config.head_size // 2,)
    for index in range(config.depth):
        block = f"{root}transformer_blocks.{index}."
        shapes |= linear(block + "attn_norm.linear", 6 * size, size)
        for projection in ("to_q", "to_k", "to_v"):
            shapes |= linear(f"{block}attn.{projection}", attention_size, size)
        shapes |= linear(block + "attn.to_out.0", size, attention_size)
        shapes |= linear(block + "ff.ff.0.0", feed_forward_size, size)
        shapes |= linear(block + "ff.ff.2", size, feed_forward_size)
    shapes |= linear(root + "norm_out.linear", 2 * size, size)
    return shapes | linear(root + "proj_out", mel_bins, size)


def _look_ahead(name: str, config: LookAheadConfig) -> Shapes:
    return conv(name + ".conv1", config.channels, config.in_channels, _LOOK_AHEAD_KERNEL) | conv(
        name + ".conv2", config.in_channels, config.channels, _SMOOTH_KERNEL
    )


def _resblock(name: str, width: int, kernel: int, num_dilations: int) -> Shapes:
    shapes: Shapes = {}
    for number in (1, 2):
        for index in range(num_dilations):
            shapes |= normed(f"{name}.convs{number}.{index}", (width, width, kernel))
            shapes[f"{name}.activations{number}.{index}.alpha"] = (width,)
    return shapes
