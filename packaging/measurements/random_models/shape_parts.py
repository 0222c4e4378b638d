"""Shapes of layers that several networks have."""

from __future__ import annotations

from studio.model.config import UNetConfig

Shapes = dict[str, tuple[int, ...]]

WEIGHT_NORM_GAIN = ".parametrizations.weight.original0"
WEIGHT_NORM_DIRECTION = ".parametrizations.weight.original1"
UNET_KERNEL, UNET_WIDENING = 3, 4


def linear(name: str, num_outputs: int, num_inputs: int) -> Shapes:
    return {name + ".weight": (num_outputs, num_inputs), name + ".bias": (num_outputs,)}


def conv(name: str, num_outputs: int, num_inputs: int, kernel: int) -> Shapes:
    return {name + ".weight": (num_outputs, num_inputs, kernel), name + ".bias": (num_outputs,)}


def norm(name: str, size: int) -> Shapes:
    return {name + ".weight": (size,), name + ".bias": (size,)}


def normed(name: str, shape: tuple[int, int, int], *, num_outputs: int | None = None) -> Shapes:
    """Return the shapes of a layer with weight normalisation."""
    return {
        name + ".bias": (num_outputs or shape[0],),
        name + WEIGHT_NORM_GAIN: (shape[0], 1, 1),
        name + WEIGHT_NORM_DIRECTION: shape,
    }


def unet_resnet(block: str, config: UNetConfig, num_inputs: int, *, norm_place: int) -> Shapes:
    """Return the shapes of a resnet block. ``norm_place`` is the index of the norm after each convolution."""
    channels = config.channels
    shapes = linear(block + "mlp.1", channels, UNET_WIDENING * channels)
    for part, part_inputs in (("block1", num_inputs), ("block2", channels)):
        shapes |= conv(f"{block}{part}.block.0", channels, part_inputs, UNET_KERNEL)
        shapes |= norm(f"{block}{part}.block.{norm_place}", channels)
    return shapes | conv(block + "res_conv", channels, num_inputs, 1)


def unet_transformer(block: str, config: UNetConfig) -> Shapes:
    channels, attention_size = config.channels, config.num_heads * config.head_size
    shapes = norm(block + "norm1", channels) | norm(block + "norm3", channels)
    for projection in ("to_q", "to_k", "to_v"):
        shapes[f"{block}attn1.{projection}.weight"] = (attention_size, channels)
    shapes |= linear(block + "attn1.to_out.0", channels, attention_size)
    shapes |= linear(block + "ff.net.0.proj", UNET_WIDENING * channels, channels)
    return shapes | linear(block + "ff.net.2", channels, UNET_WIDENING * channels)
